#include "mpi/line_between_ranks.h"

#include <algorithm>
#include <memory>
#include <new>

#include "measure/line_transfer.h"
#include "mpi/ranks.h"

namespace nameplate {

namespace {

// A line that two processes share. Not every library can share memory everywhere, so both know whether it worked.
class SharedWindow {
 public:
  explicit SharedWindow(MPI_Comm pair) {
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    int rank = 0;
    MPI_Comm_rank(pair, &rank);
    void* base = nullptr;
    const MPI_Aint bytes = rank == 0 ? 2 * sizeof(SharedLine) : 0;
    const int status = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, pair, static_cast<void*>(&base), &window_);
    const int is_made = status == MPI_SUCCESS && window_ != MPI_WIN_NULL ? 1 : 0;
    int both_made = 0;
    MPI_Allreduce(&is_made, &both_made, 1, MPI_INT, MPI_MIN, pair);
    if (both_made == 0) return;
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&base));
    auto space = static_cast<std::size_t>(size);
    void* const aligned = std::align(alignof(SharedLine), sizeof(SharedLine), base, space);
    if (rank == 0) new (aligned) SharedLine;
    line_ = static_cast<SharedLine*>(aligned);
    MPI_Barrier(pair);
  }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;
  SharedWindow(SharedWindow&&) = delete;
  SharedWindow& operator=(SharedWindow&&) = delete;
  ~SharedWindow() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }

  // Returns null if the ranks cannot share memory.
  SharedLine* line() { return line_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  SharedLine* line_ = nullptr;
};

double round_trip_s(MPI_Comm pair) {
  MPI_Comm near = MPI_COMM_NULL;
  MPI_Comm_split_type(pair, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(near, &size);
  MPI_Comm_rank(near, &rank);
  double time_s = 0;
  if (size == 2) {
    SharedWindow window(near);
    if (window.line() != nullptr && rank == 0) time_s = time_line_round_trip_s(*window.line());
    if (window.line() != nullptr && rank == 1) answer_line(*window.line());
  }
  MPI_Comm_free(&near);
  return time_s;
}

}  // namespace

double farthest_pair_round_trip_s(std::optional<int> partner) {
  const int rank = Ranks::get().rank();
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, partner ? std::min(rank, *partner) : MPI_UNDEFINED, rank, &pair);
  double local_s = 0;
  if (pair != MPI_COMM_NULL) {
    local_s = round_trip_s(pair);
    MPI_Comm_free(&pair);
  }
  double farthest_s = 0;
  MPI_Allreduce(&local_s, &farthest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return farthest_s;
}

}  // namespace nameplate
