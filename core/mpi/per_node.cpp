#include "mpi/per_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cluster/node_summary.h"
#include "measure/sampler.h"
#include "mpi/distributed.h"
#include "mpi/ranks.h"
#include "mpi/steps.h"
#include "mpi/texts.h"
#include "probe/error.h"

namespace nameplate {

namespace {

using nlohmann::json;

// Releases every node's first rank, on every path out.
class NodesAtWork {
 public:
  NodesAtWork() { broadcast({.step = Step::per_node}); }
  NodesAtWork(const NodesAtWork&) = delete;
  NodesAtWork& operator=(const NodesAtWork&) = delete;
  NodesAtWork(NodesAtWork&&) = delete;
  NodesAtWork& operator=(NodesAtWork&&) = delete;
  ~NodesAtWork() {
    for (const NodeRecord& node : Ranks::get().nodes()) {
      if (node.first_rank != 0) send_text("", node.first_rank);
    }
  }
};

json measure_here(Context& context, const json& request, const Machine& machine) {
  Machine here = machine;
  here.nodes_at_once = request.at("nodes_at_once");
  NodeSummary summary(request.at("node"));
  Sampler(context, here, here.root, summary).run(parse_request(request.dump()));
  return summary.records();
}

class PerNode {
 public:
  PerNode(Context& context, json request, const Machine& machine, RecordSink& sink)
      : context_(context), request_(std::move(request)), machine_(machine), sink_(sink) {
    const std::size_t nodes = request_.at("nodes").size();
    request_["nodes_at_once"] = request_.value("at_once", false) ? nodes : 1;
    request_.erase("nodes");
  }

  void one_after_the_other(const std::vector<int>& nodes) {
    for (const int node : nodes) {
      start(node);
      finish(node);
      if (context_.stop_requested) return;
    }
  }

  void all_at_once(std::vector<int> nodes) {
    std::ranges::sort(nodes);  // the leading rank's own node comes first and does not wait for others
    for (const int node : nodes) start(node);
    for (const int node : nodes) finish(node);
  }

  void write_outcome() {
    json outcome = outcome_of_all(outcomes_);
    outcome["interrupted"] = context_.stop_requested.load();
    sink_.write(outcome);
  }

 private:
  static int first_rank(int node) { return Ranks::get().nodes()[static_cast<std::size_t>(node)].first_rank; }

  json request_for(int node) const {
    json request = request_;
    request["node"] = node;
    return request;
  }

  // The leading rank's own node starts after the others have.
  void start(int node) const {
    if (first_rank(node) != 0) send_text(request_for(node).dump(), first_rank(node));
  }

  void finish(int node) {
    const int rank = first_rank(node);
    const json records =
        rank == 0 ? measure_here(context_, request_for(node), machine_) : json::parse(receive_text(rank));
    for (const json& record : records) sink_.write(record);
    outcomes_.push_back(records.back());
  }

  Context& context_;
  json request_;
  const Machine& machine_;
  RecordSink& sink_;
  std::vector<json> outcomes_;
};

void check(const Request& request) {
  const auto nodes = static_cast<int>(Ranks::get().nodes().size());
  if (find_probe(request.probe).takes_all_ranks) fail(request.probe + " takes all nodes of the job together");
  for (const int node : request.nodes) {
    if (node < 0 || node >= nodes) fail(fmt::format("node {} does not exist in a job of {} nodes", node, nodes));
  }
  if (request.interval_s) fail("not possible as a series: only the sum of each node's samples is kept");
}

}  // namespace

void measure_per_node(Context& context, const json& request, const Machine& machine, RecordSink& sink) {
  const Request parsed = parse_request(request.dump());
  check(parsed);
  const NodesAtWork at_work;
  PerNode nodes(context, request, machine, sink);
  if (parsed.at_once) {
    nodes.all_at_once(parsed.nodes);
  } else {
    nodes.one_after_the_other(parsed.nodes);
  }
  nodes.write_outcome();
}

void follow_per_node(Context& context, const Machine& machine) {
  if (Ranks::get().local_rank() != 0) return;
  for (std::string text = receive_text(0); !text.empty(); text = receive_text(0)) {
    send_text(measure_here(context, json::parse(text), machine).dump(-1, ' ', false, json::error_handler_t::replace),
              0);
  }
}

}  // namespace nameplate
