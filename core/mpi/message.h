// A message that goes from one rank to another and back, as the field's programs send it: by MPI_Send and MPI_Recv.
#pragma once

#include <cstdint>

#include "machine/buffer.h"
#include "mpi/ranks.h"

namespace nameplate {

class Message {
 public:
  Message() = default;  // of a rank that takes no part
  explicit Message(int size_bytes);

  // Other content than any before, so that an old answer is no answer.
  void renew();
  // Sends it to `partner` and waits until it is back, so many times.
  void exchange(std::uint64_t repetitions, int partner, MPI_Comm among) const;
  // Sends back what comes from `partner`, so many times.
  void answer(std::uint64_t repetitions, int partner, MPI_Comm among) const;
  // Whether the last exchange brought back what was sent.
  bool is_back_unchanged() const;

 private:
  int size_bytes_ = 0;
  std::uint64_t number_ = 0;
  Buffer sent_;
  Buffer received_;
};

}  // namespace nameplate
