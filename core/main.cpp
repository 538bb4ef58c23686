// nameplate-core reads requests on standard input, writes records on standard output, and messages on standard error.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/batch.h"
#include "cluster/job.h"
#include "disk/retained_files.h"
#include "machine/lapack.h"
#include "machine/machine.h"
#include "machine/standard_streams.h"
#include "measure/clock.h"
#include "measure/command.h"
#include "measure/sampler.h"
#include "net/key_file.h"
#include "net/remote_session.h"
#include "net/serve.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "record/header.h"
#include "record/outcome.h"
#include "record/writer.h"

namespace {

using nlohmann::json;

// A signal handler is handed nothing, so this cannot be anywhere else.
std::atomic<bool> g_stop_requested = false;

json description() {
  json probes = json::array();
  for (const auto* probe : nameplate::registered_probes()) probes.push_back(nameplate::to_json(probe->info));
  return {{"type", "description"},
          {"schema", nameplate::kSchema},
          {"version", nameplate::version()},
          {"mpi", nameplate::mpi_library()},
          {"probes", probes}};
}

json machine_json(const nameplate::Machine& machine, nameplate::Job& job) {
  json result = nameplate::to_json(machine);
  result["job"] = job.to_json(machine);
  return result;
}

// Writes the machine alone, or as part of a description: a program that asks for both starts one process.
void write_machine(nameplate::RecordSink& writer, json machine, bool with_description) {
  json record = with_description ? description() : machine;
  if (with_description) {
    record["machine"] = std::move(machine);
  } else {
    record["type"] = "machine";
    record["schema"] = nameplate::kSchema;
  }
  writer.write(record);
}

void write_header(nameplate::RecordSink& writer, const json& machine) {
  const nameplate::ClockInfo& clock = nameplate::Clock::get().info();
  writer.write({{"type", "header"},
                {"schema", nameplate::kSchema},
                {"version", nameplate::version()},
                {"build", nameplate::build_info()},
                {"features", nameplate::build_features()},
                {"libraries", nameplate::library_versions()},
                {"machine", machine},
                {"clock",
                 {{"source", clock.source},
                  {"frequency_hz", clock.frequency_hz},
                  {"resolution_s", clock.resolution_s},
                  {"cost_s", clock.cost_s}}}});
}

void serve_requests(nameplate::RecordSink& writer, const nameplate::Root& root, nameplate::Job& job) {
  const nameplate::Machine machine = nameplate::read_machine(root);
  if (!job.leads()) {
    job.follow(machine);
    return;
  }
  write_header(writer, machine_json(machine, job));
  int experiments = 0;
  while (!g_stop_requested) {
    const auto line = job.next_request();
    if (!line) break;
    if (line->empty()) continue;
    try {
      job.measure(*line, machine, writer);
    } catch (const nameplate::ProbeError& error) {
      // A line that cannot be parsed also gets an outcome, so that its sender is not left waiting.
      writer.write(nameplate::failed_outcome("", "", "request", error.what()));
    }
    ++experiments;
  }
  writer.write({{"type", "end"}, {"experiments", experiments}, {"interrupted", g_stop_requested.load()}});
}

// A signal sets a flag that the sampler checks between samples; a second one ends the program at once. Without
// SA_RESTART, a read that waits for the next request ends as well.
void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr int kStoppedBySignal = 130;
    if (g_stop_requested) _exit(kStoppedBySignal);
    g_stop_requested = true;
  };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // If the reader dies, or a file exceeds its limit, write returns an error, which ends the program properly.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

constexpr int kWrongUsage = 2;
constexpr int kNotMeasured = 3;

// Prints an error, and returns the exit code.
int complain(const std::exception& error, int exit_code) {
  if (*error.what() != '\0') nameplate::print_message(fmt::format("nameplate-core: {}\n", error.what()));
  return exit_code;
}

// Options of `serve`. The key file is read, or created, only after all other options are known to be valid.
constexpr double kMaxSession_s = 1e9;
constexpr int kMaxSessions = 4096;

// Returns what is wrong with a duration; CLI::Range accepts NaN.
std::string is_session_time(const std::string& text) {
  double seconds = 0;
  const bool is_possible = CLI::detail::lexical_cast(text, seconds) && seconds >= 1 && seconds <= kMaxSession_s;
  return is_possible ? "" : fmt::format("{} is not in the range 1 to {:g}", text, kMaxSession_s);
}

struct ServeArguments {
  nameplate::ServeOptions options;
  std::string key_file;
  std::string new_key_file;
};

CLI::App* add_serve(CLI::App& app, ServeArguments& arguments) {
  CLI::App* serve = app.add_subcommand("serve", "be the peer for another machine's network probes");
  nameplate::PeerOptions& peer = arguments.options.peer;
  serve
      ->add_option("--listen", peer.listen.host,
                   "address to listen at; addresses that other machines reach need a "
                   "key")
      ->capture_default_str();
  serve->add_option("--port", peer.listen.port, "TCP and UDP port; 0: any free one")->capture_default_str();
  serve->add_option("--key-file", arguments.key_file,
                    "file with the shared key; default: NAMEPLATE_KEY in the "
                    "environment");
  serve->add_option("--new-key", arguments.new_key_file, "write a new key to this file, and exit");
  serve->add_option("--max-bytes", peer.session.bytes, "bytes that one session may transfer")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  serve->add_option("--max-seconds", peer.session.seconds, "seconds that one session may last")
      ->check(is_session_time)
      ->capture_default_str();
  serve->add_option("--max-sessions", peer.max_sessions, "concurrent sessions")
      ->check(CLI::Range(1, kMaxSessions))
      ->capture_default_str();
  serve->add_option("--user", arguments.options.user, "user to run as when started by root")->capture_default_str();
  serve->add_flag("--json", arguments.options.is_json, "announce the addresses as JSON on standard output");
  serve->add_option("--cpus", peer.cpus, "")->delimiter(',')->group("");
  serve->add_option("--announce", arguments.options.announce, "")->group("");
  return serve;
}

void serve(ServeArguments& arguments) {
  if (!arguments.new_key_file.empty()) {
    nameplate::write_new_key(arguments.new_key_file);
    return;
  }
  arguments.options.peer.key = nameplate::find_key(arguments.key_file);
  nameplate::serve(std::move(arguments.options));
}

// Options of `quick`.
struct QuickArguments {
  std::string budget;
  int rounds = 0;
};

CLI::App* add_quick(CLI::App& app, QuickArguments& arguments) {
  constexpr int kMaxRounds = 10'000;
  CLI::App* quick = app.add_subcommand("quick",
                                       "measure CPU, memory, disk and network of this machine within a minute: "
                                       "records on standard output, a table on standard error");
  auto* const rounds = quick->add_option("--rounds", arguments.rounds, "number of rounds, however long they take")
                           ->check(CLI::Range(1, kMaxRounds));
  quick->add_option("--budget", arguments.budget, "time for the run, such as 30s; the first round is always complete")
      ->excludes(rounds);
  return quick;
}

CLI::App* add_batch(CLI::App& app, std::string& request_file) {
  CLI::App* batch = app.add_subcommand("batch",
                                       "measure the plan of a request file, which nameplate fleet makes: records on "
                                       "standard output");
  batch->add_option("FILE", request_file, "the request file; -: standard input")->required();
  return batch;
}

// Throws ProbeError if the file cannot be read, or is larger than any plan.
std::string read_request_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  if (std::filesystem::is_directory(path)) nameplate::fail(path + ": a directory; name a request file");
  const std::string name = path == "-" ? "/dev/stdin" : path;
  std::ifstream file(name, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) nameplate::fail(path + ": cannot be read: " + std::generic_category().message(errno));
  if (text.size() > kMaxBytes) nameplate::fail(fmt::format("{}: not a request file: larger than 64 MiB", path));
  return text;
}

nameplate::HostAndPort parse_peer(const std::string& peer) {
  const auto endpoint = nameplate::parse_host_and_port(peer, nameplate::kPeerPort);
  if (!endpoint) nameplate::fail("--peer " + peer + ": not a HOST, HOST:PORT or [ADDRESS]:PORT");
  return *endpoint;
}

// Returns the options in front of `quick` or `batch`, which the processes that measure get. Throws ProbeError if one is
// wrong.
std::vector<std::string> options_of_processes(const CLI::App& app) {
  std::vector<std::string> result;
  for (const CLI::Option* const given :
       app.get_options([](const CLI::Option* option) { return option->count() > 0; })) {
    const std::string name = given->get_name();
    const auto value = given->as<std::string>();
    if (name == "--peer") {
      static_cast<void>(parse_peer(value));
    } else if (name == "--key-file") {
      static_cast<void>(nameplate::find_key(value));
    } else if (name == "--blas") {
      const nameplate::Lapack tried(value);
    } else {
      nameplate::fail(name + ": not possible with quick or batch; use --peer, --key-file or --blas");
    }
    result.insert(result.end(), {name, value});
  }
  return result;
}

int measure_batch(nameplate::BatchOptions options) {
  if (!nameplate::mpi_library().empty())
    nameplate::fail("quick and batch measure one machine: use nameplate-core, without MPI");
  // Only the processes that need the key get it, so that /proc shows it in no other one.
  options.key = nameplate::take_key_variable();
  if (std::ranges::find(options.core_options, "--peer") == options.core_options.end()) options.key.clear();
  install_signal_handlers();
  return nameplate::measure_batch(options, g_stop_requested);
}

int measure_quick(const QuickArguments& arguments, std::vector<std::string> core_options) {
  nameplate::BatchOptions options{
      .plan = {}, .rounds = {}, .budget_s = {}, .core_options = std::move(core_options), .key = {}};
  if (arguments.rounds > 0) options.rounds = arguments.rounds;
  if (!arguments.budget.empty()) {
    options.budget_s = nameplate::parse_duration(arguments.budget);
    if (!options.budget_s || *options.budget_s <= 0) {
      nameplate::fail("--budget " + arguments.budget + ": not a duration above 0; use 30s or 1min");
    }
  }
  return measure_batch(std::move(options));
}

// Options without a command.
struct ProgramArguments {
  bool show_probes = false;
  bool show_machine = false;
  pid_t parent = 0;
  int keeper = -1;
  std::string directory = "/";
  std::string peer;
  std::string key_file;
  std::string blas;
};

void add_options(CLI::App& app, ProgramArguments& arguments) {
  app.add_flag("--describe", arguments.show_probes,
               "print every probe with its parameters, and exit; with --machine both in one record");
  app.add_flag("--machine", arguments.show_machine, "print what is known about the machine, and exit");
  app.add_option("--root", arguments.directory,
                 "read the machine from this directory instead of / (a recorded machine)")
      ->check(CLI::ExistingDirectory);
  app.add_option("--die-with-parent", arguments.parent,
                 "exit when the process with this number, which started this one, ends");
  app.add_option("--keeper", arguments.keeper, "open socket to the program that keeps files from round to round");
  app.add_option("--peer", arguments.peer,
                 "HOST[:PORT] of the peer for network probes; default: one started on this machine");
  app.add_option("--key-file", arguments.key_file,
                 "file with the key shared with that peer; default: NAMEPLATE_KEY in the "
                 "environment");
  app.add_option("--blas", arguments.blas, "name or path of the LAPACK library for cpu_linpack");
  app.set_version_flag("--version", nameplate::version());
}

// Returns false if the parent, with whose end this process is to end, has ended already.
bool die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return getppid() == parent;
}

void describe_or_measure(const ProgramArguments& arguments) {
  // Without a peer nobody needs the key, and no program started here may see it.
  if (arguments.peer.empty()) nameplate::take_key_variable();
  nameplate::RetainedFiles retained_files;
  nameplate::PeerAccess access;
  nameplate::Context context{
      .stop_requested = g_stop_requested, .retained_files = retained_files, .peer = access, .lapack = arguments.blas};
  if (!arguments.peer.empty()) access.use(parse_peer(arguments.peer), nameplate::find_key(arguments.key_file));
  if (!arguments.blas.empty()) const nameplate::Lapack tried(arguments.blas);
  install_signal_handlers();
  if (arguments.keeper >= 0) retained_files.connect(arguments.keeper);
  nameplate::RecordWriter writer(STDOUT_FILENO, &g_stop_requested);
  const nameplate::Root root(arguments.directory);
  if (arguments.show_probes && !arguments.show_machine) {
    writer.write(description());
    return;
  }
  const auto job = nameplate::start_job(context);
  if (arguments.show_machine && job->leads()) {
    write_machine(writer, machine_json(nameplate::read_machine(root), *job), arguments.show_probes);
  } else if (arguments.show_machine) {
    job->follow(nameplate::read_machine(root));
  } else {
    serve_requests(writer, root, *job);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Measures: one JSON request per line on standard input, JSON records on standard output.",
               "nameplate-core");
  ProgramArguments arguments;
  ServeArguments serve_arguments;
  QuickArguments quick_arguments;
  add_options(app, arguments);
  const CLI::App* serve_command = add_serve(app, serve_arguments);
  const CLI::App* quick_command = add_quick(app, quick_arguments);
  std::string request_file;
  const CLI::App* batch_command = add_batch(app, request_file);
  const CLI::App* commands_command = app.add_subcommand("commands", "")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return complain(error, kWrongUsage);
    std::ostringstream help;
    app.exit(error, help, help);
    nameplate::RecordWriter(STDOUT_FILENO).write_text(help.str());
    return 0;
  }
  if (arguments.parent != 0 && !die_with(arguments.parent)) return kNotMeasured;
  if (serve_command->parsed()) {
    serve(serve_arguments);
    return 0;
  }
  if (quick_command->parsed()) return measure_quick(quick_arguments, options_of_processes(app));
  if (batch_command->parsed()) {
    return measure_batch({.plan = read_request_file(request_file),
                          .rounds = {},
                          .budget_s = {},
                          .core_options = options_of_processes(app),
                          .key = {}});
  }
  if (commands_command->parsed()) {
    nameplate::RecordWriter writer(STDOUT_FILENO);
    nameplate::time_commands(writer);
    return 0;
  }
  describe_or_measure(arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kInternalError = 70;
  nameplate::open_standard_streams();
  try {
    return run(argc, argv);
  } catch (const nameplate::LaunchError& error) {
    return complain(error, kNotMeasured);
  } catch (const nameplate::ProbeError& error) {
    return complain(error, kWrongUsage);
  } catch (const std::system_error& error) {
    return complain(error, kNotMeasured);
  } catch (const std::exception& error) {
    return complain(error, kInternalError);
  }
}
