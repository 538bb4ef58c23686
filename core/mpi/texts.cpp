#include "mpi/texts.h"

#include "mpi/ranks.h"
#include "mpi/tree.h"

namespace nameplate {

namespace {

constexpr int kLength = 4;
constexpr int kText = 5;

}  // namespace

void send_text(const std::string& text, int to) {
  const std::uint64_t length = text.size();
  MPI_Send(&length, sizeof length, MPI_BYTE, to, kLength, MPI_COMM_WORLD);
  if (length > 0) MPI_Send(text.data(), static_cast<int>(length), MPI_BYTE, to, kText, MPI_COMM_WORLD);
}

std::string receive_text(int from) {
  std::uint64_t length = 0;
  receive_asleep(&length, sizeof length, from, kLength);
  std::string text(length, '\0');
  if (length > 0) receive_asleep(text.data(), length, from, kText);
  return text;
}

}  // namespace nameplate
