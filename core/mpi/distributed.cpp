#include "mpi/distributed.h"

#include "mpi/per_node.h"
#include "mpi/steps.h"

namespace nameplate {

namespace {

class Leader final : public Probe {
 public:
  Leader(std::string name, std::unique_ptr<DistributedProbe> part) : name_(std::move(name)), part_(std::move(part)) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    tell({.step = Step::setup, .text = nlohmann::json{{"probe", name_}, {"params", parameters.to_json()}}.dump()});
    Prepared prepared;
    together([&] { prepared = part_->setup(parameters, machine); });
    part_->connect();
    return prepared;
  }

  Work run(std::uint64_t repetitions) override {
    tell({.step = Step::run, .argument = repetitions});
    return part_->run(repetitions);
  }

  void verify() override {
    tell({.step = Step::verify});
    together([this] { part_->verify(); });
  }

  void teardown() override {
    tell({.step = Step::teardown});
    part_->teardown();
  }

 private:
  std::string name_;
  std::unique_ptr<DistributedProbe> part_;
};

std::unique_ptr<DistributedProbe> set_up(const std::string& text, const Machine& machine) {
  std::unique_ptr<DistributedProbe> part;
  const bool all_could = together([&] {
    const auto request = nlohmann::json::parse(text);
    const RegisteredProbe& registered = find_probe(request.at("probe").get<std::string>());
    // On a rank that follows, what is registered makes a part.
    part.reset(dynamic_cast<DistributedProbe*>(registered.make().release()));
    part->setup(check_parameters(registered.info.parameters, request.at("params")), machine);
  });
  if (all_could) part->connect();
  return part;
}

}  // namespace

std::unique_ptr<Probe> make_leader(const std::string& name, std::unique_ptr<DistributedProbe> part) {
  return std::make_unique<Leader>(name, std::move(part));
}

bool takes_whole_job(const RegisteredProbe& probe) {
  const std::unique_ptr<Probe> made = probe.make();
  return dynamic_cast<const Leader*>(made.get()) != nullptr;
}

void follow_leader(const Machine& machine) {
  std::unique_ptr<DistributedProbe> part;
  for (Command command = listen(); command.step != Step::end; command = listen()) {
    switch (command.step) {
      case Step::setup: part = set_up(command.text, machine); break;
      case Step::run: part->run(command.argument); break;
      case Step::verify: together([&] { part->verify(); }); break;
      case Step::teardown:
        if (part) part->teardown();
        part.reset();
        break;
      case Step::per_node: follow_per_node(machine); break;
      case Step::end: break;
    }
  }
}

}  // namespace nameplate
