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

// A rank's neighbours in a binomial tree: its parent is the rank without its lowest bit.
struct Neighbours {
  bool has_parent = false;
  int parent = 0;
  std::vector<int> children;  // the one with the largest subtree last
};

Neighbours neighbours_in(MPI_Comm among) {
  int index = 0;
  int ranks = 0;
  MPI_Comm_rank(among, &index);
  MPI_Comm_size(among, &ranks);
  const auto rank = static_cast<unsigned>(index);
  const auto size = static_cast<unsigned>(ranks);
  Neighbours result{.has_parent = rank != 0, .parent = static_cast<int>(rank & (rank - 1))};
  const unsigned beyond = rank == 0 ? std::bit_ceil(size) : rank & -rank;
  for (unsigned step = 1; step < beyond && rank + step < size; step *= 2) {
    result.children.push_back(static_cast<int>(rank + step));
  }
  return result;
}

void send(const void* bytes, std::size_t size, int to, MPI_Comm among) {
  MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, kTag, among);
}

}  // namespace

void broadcast_asleep(void* bytes, std::size_t size, MPI_Comm among) {
  Neighbours tree = neighbours_in(among);
  if (tree.has_parent) receive_asleep(bytes, size, tree.parent, kTag, among);
  // The one with the largest subtree first.
  std::ranges::reverse(tree.children);
  for (const int child : tree.children) send(bytes, size, child, among);
}

void reduce_asleep(void* bytes, std::size_t size, const std::function<void(const void* other)>& merge, MPI_Comm among) {
  const Neighbours tree = neighbours_in(among);
  std::vector<std::byte> other(size);
  for (const int child : tree.children) {
    receive_asleep(other.data(), size, child, kTag, among);
    merge(other.data());
  }
  if (tree.has_parent) send(bytes, size, tree.parent, among);
}

void barrier_asleep(MPI_Comm among) {
  reduce_asleep(
      nullptr, 0, [](const void*) {}, among);
  broadcast_asleep(nullptr, 0, among);
}

void receive_asleep(void* bytes, std::size_t size, int from, int tag, MPI_Comm among) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, from, tag, among, &request);
  std::chrono::microseconds sleep = kShortestSleep;
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    std::this_thread::sleep_for(sleep);
    sleep = std::min(2 * sleep, kLongestSleep);
  }
}

}  // namespace nameplate
