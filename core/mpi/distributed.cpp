#include "mpi/distributed.h"

#include "mpi/per_node.h"
#include "mpi/steps.h"

namespace nameplate {

namespace {

class Leader final : public Probe {
 public:
  Leader(std::string name, std::unique_ptr<DistributedProbe> part) : name_(std::move(name)), part_(std::move(part)) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    broadcast({.step = Step::setup, .text = nlohmann::json{{"probe", name_}, {"params", parameters.to_json()}}.dump()});
    Prepared prepared;
    run_collectively([&] { prepared = part_->setup(parameters, machine); });
    part_->connect();
    return prepared;
  }

  Work run(std::uint64_t repetitions) override {
    broadcast({.step = Step::run, .argument = repetitions});
    return part_->run(repetitions);
  }

  void verify() override {
    broadcast({.step = Step::verify});
    run_collectively([this] { part_->verify(); });
  }

  void teardown() override {
    broadcast({.step = Step::teardown});
    part_->teardown();
  }

 private:
  std::string name_;
  std::unique_ptr<DistributedProbe> part_;
};

std::unique_ptr<DistributedProbe> set_up(Context& context, const std::string& text, const Machine& machine) {
  std::unique_ptr<DistributedProbe> part;
  const bool all_could = run_collectively([&] {
    const auto request = nlohmann::json::parse(text);
    const RegisteredProbe& registered = find_probe(request.at("probe").get<std::string>());
    // On a rank that follows, a registered probe creates its part.
    part.reset(dynamic_cast<DistributedProbe*>(registered.make(context).release()));
    part->setup(check_parameters(registered.info.parameters, request.at("params")), machine);
  });
  if (all_could) part->connect();
  return part;
}

}  // namespace

std::unique_ptr<Probe> make_leader(const std::string& name, std::unique_ptr<DistributedProbe> part) {
  return std::make_unique<Leader>(name, std::move(part));
}

void follow_leader(Context& context, const Machine& machine) {
  std::unique_ptr<DistributedProbe> part;
  for (Command command = receive(); command.step != Step::end; command = receive()) {
    switch (command.step) {
      case Step::setup: part = set_up(context, command.text, machine); break;
      case Step::run: part->run(command.argument); break;
      case Step::verify: run_collectively([&] { part->verify(); }); break;
      case Step::teardown:
        if (part) part->teardown();
        part.reset();
        break;
      case Step::per_node: follow_per_node(context, machine); break;
      case Step::end: break;
    }
  }
}

}  // namespace nameplate
