#include "mpi/tree.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/ranks.h"

namespace nameplate {

namespace {

constexpr int kTag = 1;
constexpr std::chrono::microseconds kShortestSleep{20};
constexpr std::chrono::microseconds kLongestSleep{1000};

// A binomial tree: a rank's parent is the rank without its lowest bit.
int parent_of(unsigned rank) { return static_cast<int>(rank & (rank - 1)); }

std::vector<int> children_of(unsigned rank, unsigned size) {
  std::vector<int> children;
  const unsigned beyond = rank == 0 ? std::bit_ceil(size) : rank & -rank;
  for (unsigned step = 1; step < beyond && rank + step < size; step *= 2) {
    children.push_back(static_cast<int>(rank + step));
  }
  return children;
}

void send(const void* bytes, std::size_t size, int to) {
  MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
}

}  // namespace

void broadcast_asleep(void* bytes, std::size_t size) {
  const auto rank = static_cast<unsigned>(Ranks::get().rank());
  if (rank != 0) receive_asleep(bytes, size, parent_of(rank), kTag);
  std::vector<int> children = children_of(rank, static_cast<unsigned>(Ranks::get().size()));
  // The one with the most below it first.
  std::ranges::reverse(children);
  for (const int child : children) send(bytes, size, child);
}

void reduce_asleep(void* bytes, std::size_t size, const std::function<void(const void* other)>& merge) {
  const auto rank = static_cast<unsigned>(Ranks::get().rank());
  std::vector<std::byte> other(size);
  for (const int child : children_of(rank, static_cast<unsigned>(Ranks::get().size()))) {
    receive_asleep(other.data(), size, child, kTag);
    merge(other.data());
  }
  if (rank != 0) send(bytes, size, parent_of(rank));
}

void receive_asleep(void* bytes, std::size_t size, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  std::chrono::microseconds sleep = kShortestSleep;
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    std::this_thread::sleep_for(sleep);
    sleep = std::min(2 * sleep, kLongestSleep);
  }
}

}  // namespace nameplate
