#include "net/serve.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "probe/error.h"

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

void announce(const Peer& peer, int to) {
  if (to >= 0) {
    const std::string line = fmt::format("{}\n", peer.addresses().front().port());
    if (write(to, line.data(), line.size()) < 0) fail("nobody waits for this peer");
    close(to);
    return;
  }
  for (const Address& address : peer.addresses()) {
    std::fprintf(stderr, "nameplate-core: listening at %s, TCP and UDP, %s\n", address.text().c_str(),
                 peer.has_key() ? "for clients with the key" : "without a key: for this machine only");
  }
}

}  // namespace

void serve(ServeOptions options) {
  const Descriptor stop = stop_signals();
  // A change of user would clear the parent-death signal.
  int parent_death = 0;
  prctl(PR_GET_PDEATHSIG, &parent_death);
  Peer peer(std::move(options.peer));
  drop_rights(options.user, peer);
  if (parent_death != 0) prctl(PR_SET_PDEATHSIG, parent_death);
  announce(peer, options.announce);
  peer.run(stop.number());
}

}  // namespace nameplate
