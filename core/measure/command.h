// Times programs that a user gives, as GNU time and hyperfine do: elapsed time, CPU time and peak memory.
//
// The time is from just before the program is executed until its end is noticed. The parent is a small process on
// purpose: the kernel counts what a process held before it executed a program as part of the program's peak memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "machine/descriptor.h"
#include "measure/clock.h"
#include "record/writer.h"

namespace nameplate {

struct CommandTimes {
  double elapsed_s = 0;
  double cpu_user_s = 0;  // of the program and of all processes that it waited for
  double cpu_system_s = 0;
  std::int64_t max_memory_bytes = 0;  // the largest resident set of any of them
  int exit_code = 0;                  // 128 and its number if a signal ended the program, as in a shell
  std::string problem;                // why the program did not start; empty if it did
  std::string messages;               // the end of what it wrote to standard error, if the exit code is not 0
};

class CommandTimer {
 public:
  // Throws std::system_error if the system has no room for its files.
  CommandTimer();
  CommandTimer(const CommandTimer&) = delete;
  CommandTimer& operator=(const CommandTimer&) = delete;
  CommandTimer(CommandTimer&&) = delete;
  CommandTimer& operator=(CommandTimer&&) = delete;
  ~CommandTimer();

  // Runs a program with its arguments until it ends. It is searched on PATH, has no input, and its output is dropped.
  // It ends with this process. `arguments` are one or more.
  CommandTimes run(std::vector<std::string> arguments);

 private:
  // Written by the child before it executes the program.
  struct Shared {
    Ticks start;
    int error;
  };

  [[noreturn]] void execute(const std::vector<char*>& arguments, pid_t parent) const;
  std::string messages() const;

  Descriptor nothing_;
  Descriptor messages_;
  Shared* shared_ = nullptr;
};

// Times the commands that standard input asks for, one {"argv": [...]} per line, and writes a record of each.
void time_commands(RecordSink& writer);

}  // namespace nameplate
