#include "net/serve.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "probe/error.h"
#include "record/writer.h"

namespace nameplate {

namespace {

// SIGINT and SIGTERM as a readable descriptor: every thread of the peer inherits that they are blocked.
Descriptor stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

void drop_rights(const std::string& user, Peer& peer) {
  if (geteuid() == 0) {
    const passwd* entry = getpwnam(user.c_str());
    if (entry == nullptr)
      fail(fmt::format("there is no user '{}' to run the peer as; choose another with --user", user));
    peer.give_port_to(entry->pw_uid);
    if (setgroups(0, nullptr) != 0 || setgid(entry->pw_gid) != 0 || setuid(entry->pw_uid) != 0) {
      fail(fmt::format("cannot become the user '{}': {}", user, std::strerror(errno)));
    }
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void announce_as_json(const Peer& peer) {
  nlohmann::ordered_json document = {{"listening", nlohmann::json::array()}, {"has_key", peer.has_key()}};
  for (const Address& address : peer.addresses()) document["listening"].push_back(address.text());
  static const std::atomic<bool> is_bounded = true;  // signals are blocked
  RecordWriter(STDOUT_FILENO, &is_bounded).write_line(document.dump());
}

// Tells the program that started this peer.
void tell(int descriptor, const std::string& text) {
  if (write(descriptor, text.data(), text.size()) < 0) fail("nobody waits for this peer");
  close(descriptor);
}

void announce(const Peer& peer, const ServeOptions& options) {
  if (options.announce >= 0) {
    tell(options.announce, fmt::format("{}\n", peer.addresses().front().port()));
    return;
  }
  if (options.is_json) {
    announce_as_json(peer);
    return;
  }
  for (const Address& address : peer.addresses()) {
    print_message(fmt::format("nameplate-core: listening at {}, TCP and UDP, {}\n", address.text(),
                              peer.has_key() ? "for clients with the key" : "without a key: for this machine only"));
  }
}

// Returns a peer that listens without root's rights. The program that started it is told if that is impossible.
std::unique_ptr<Peer> start_peer(ServeOptions& options) {
  try {
    auto peer = std::make_unique<Peer>(std::move(options.peer));
    drop_rights(options.user, *peer);
    return peer;
  } catch (const ProbeError& error) {
    if (options.announce >= 0) tell(options.announce, error.what());
    throw;
  }
}

}  // namespace

void serve(ServeOptions options) {
  const Descriptor stop = stop_signals();
  // A change of user would clear the parent-death signal.
  int parent_death = 0;
  prctl(PR_GET_PDEATHSIG, &parent_death);
  const std::unique_ptr<Peer> peer = start_peer(options);
  if (parent_death != 0) prctl(PR_SET_PDEATHSIG, parent_death);
  announce(*peer, options);
  peer->run(stop.number());
}

}  // namespace nameplate
