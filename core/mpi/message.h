// A message that goes from one rank to another and back with MPI_Send and MPI_Recv, as common benchmarks send it.
#pragma once

#include <cstdint>

#include "machine/buffer.h"
#include "mpi/ranks.h"

namespace nameplate {

class Message {
 public:
  Message() = default;  // for a rank that takes no part
  explicit Message(int size_bytes);

  // Changes the content, so that an old answer is recognised.
  void renew();
  // Sends it to `partner` and waits until it is back, `repetitions` times.
  void exchange(std::uint64_t repetitions, int partner, MPI_Comm among) const;
  // Sends back what comes from `partner`, `repetitions` times.
  void answer(std::uint64_t repetitions, int partner, MPI_Comm among) const;
  // Returns whether the last exchange brought back what was sent.
  bool is_back_unchanged() const;

 private:
  int size_bytes_ = 0;
  std::uint64_t number_ = 0;
  Buffer sent_;
  Buffer received_;
};

}  // namespace nameplate
