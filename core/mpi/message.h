// A message that goes from one rank to another and back with MPI_Send and MPI_Recv, as common benchmarks send it.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/buffer.h"
#include "mpi/ranks.h"

namespace nameplate {

// The content of the messages. The receiver of a message that never changes may find it in its own cache.
enum class Data {
  unchanged,  // both send the same bytes again and again
  echo,       // the first one too; the other one sends back what it received
  fresh       // both write the whole message before they send it
};

// Converts one of the enumerators' names.
Data parse_data(std::string_view word);

class Message {
 public:
  Message() = default;  // for a rank that takes no part
  Message(int size_bytes, Data data);

  // Changes the content, so that an old message is recognised. Both ranks must do it equally often, except with
  // Data::echo.
  void renew();
  // Sends it to `partner` and waits for the answer, `repetitions` times.
  void exchange(std::uint64_t repetitions, int partner, MPI_Comm among);
  // Answers what comes from `partner`, `repetitions` times.
  void answer(std::uint64_t repetitions, int partner, MPI_Comm among);
  // Returns whether the message that came last is right: it equals the one of this rank.
  bool is_received_right() const;

 private:
  void write_if_fresh();

  int size_bytes_ = 0;
  Data data_ = Data::unchanged;
  std::uint64_t number_ = 0;
  std::uint64_t written_ = 0;
  Buffer sent_;
  Buffer received_;
};

}  // namespace nameplate
