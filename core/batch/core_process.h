// Another process of this program, which measures what it is asked to: each round of a plan has a fresh one, so that
// rounds differ in the placement of their memory, and a crash costs one experiment.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.h"
#include "net/secret.h"

namespace nameplate {

class CoreProcess {
 public:
  // `options` are further options of nameplate-core, `key` is in its environment unless it is empty, and `keeper` is
  // the process's end of a FileKeeper. SIGINT and SIGTERM must be blocked; they are delivered while a record is waited
  // for. Throws ProbeError.
  CoreProcess(const std::vector<std::string>& options, const SecretText& key, Descriptor keeper);
  CoreProcess(const CoreProcess&) = delete;
  CoreProcess& operator=(const CoreProcess&) = delete;
  CoreProcess(CoreProcess&&) = delete;
  CoreProcess& operator=(CoreProcess&&) = delete;
  // Kills the process if it has not ended.
  ~CoreProcess();

  // Sends a request; a process that has ended ignores it.
  void send(const nlohmann::json& request) const;

  // Returns the next record. Returns nothing if the process has ended, wrote something else, or wrote nothing within
  // `deadline_s` whole seconds; `how_it_ended` then says which. After a signal, `on_signal` is called, and the wait
  // goes on.
  template <class OnSignal>
  std::optional<nlohmann::json> record(double deadline_s, OnSignal on_signal) {
    for (;;) {
      if (auto buffered = buffered_record()) return buffered;
      if (has_ended_) return std::nullopt;
      if (!read_more(deadline_s)) on_signal();
    }
  }

  // Asks the process to end after the sample that it is taking.
  void interrupt() const;

  // Closes its input, and waits until it ends.
  void close();

  // Returns words for the reason of an experiment, such as "nameplate-core was killed by signal 11".
  const std::string& how_it_ended() const { return how_it_ended_; }

 private:
  std::optional<nlohmann::json> buffered_record();
  bool read_more(double deadline_s);
  void end(const std::string& how);

  pid_t process_ = -1;
  Descriptor input_;
  Descriptor output_;
  std::string buffer_;
  std::string how_it_ended_;
  bool has_ended_ = false;
};

}  // namespace nameplate
