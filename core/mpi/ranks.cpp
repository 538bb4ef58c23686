#include "mpi/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cluster/job.h"

namespace nameplate {

namespace {

int number_of(const char* variable) {
  const char* text = std::getenv(variable);       // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? -1 : std::atoi(text);  // NOLINT(cert-err34-c): 0 is as good as nothing
}

// Returns the largest number that launchers set: Open MPI's, MPICH's and Intel's (PMI), Slurm's.
int launched(const char* of_open_mpi, const char* of_pmi, const char* of_slurm) {
  return std::max({number_of(of_open_mpi), number_of(of_pmi), number_of(of_slurm)});
}

// srun starts programs of every MPI, so a missing option is more likely than a program of another MPI.
std::string launch_remedy() {
  if (std::max(number_of("OMPI_COMM_WORLD_SIZE"), number_of("PMI_SIZE")) < 0) {
    return "select the interface of this library: srun --mpi=pmix or --mpi=pmi2 (see srun --mpi=list)";
  }
  return "launch with that library's own mpirun, or build for this one with script/bootstrap --mpi=MPICXX";
}

void check_launcher(int size) {
  const int processes = launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS");
  if (size != 1 || processes <= 1) return;
  // All processes detect this; one reports it.
  if (launched("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID") > 0) throw LaunchError("");
  throw LaunchError(
      fmt::format("the launcher started {} processes, but in each of them {} sees only one: launcher and MPI "
                  "library do not match; {}",
                  processes, mpi_library(), launch_remedy()));
}

}  // namespace

Ranks* Ranks::instance_ = nullptr;

Ranks& Ranks::get() { return *instance_; }

// Without thread support, like the programs that are compared: MPI_THREAD_FUNNELED makes Open MPI 4.1's small messages
// a fifth slower. Other threads (OpenMP's, a probe's workers) never call MPI.
MpiLibrary::MpiLibrary() {
#ifdef OPEN_MPI
  // Under MPICH's launcher each process of Open MPI is a job of its own, and several that start at the same time may
  // fail to create the folder that they share.
  if (number_of("HYDI_CONTROL_FD") >= 0 && number_of("OMPI_COMM_WORLD_SIZE") < 0) check_launcher(1);
#endif
  MPI_Init(nullptr, nullptr);
}

Ranks::Ranks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  instance_ = this;
  check_launcher(size_);
  find_nodes();
}

// Ranks that share memory are on one node (MPI 3.1, 6.4.2); each node's first rank describes it to the leading rank.
void Ranks::find_nodes() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  NodeRecord local{.identity = read_node_identity(), .first_rank = rank_};
  MPI_Comm_size(node, &ranks_on_node_);
  local.ranks = ranks_on_node_;
  NodeIdentity first = local.identity;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, node);
  const int is_other = first == local.identity ? 0 : 1;
  int misplaced = 0;
  MPI_Allreduce(&is_other, &misplaced, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (misplaced > 0) {
    throw LaunchError(
        fmt::format("MPI places {} ranks on another rank's node, although host name, boot identifier or name space "
                    "differ",
                    misplaced));
  }
  MPI_Comm_rank(node, &local_rank_);
  MPI_Comm leaders = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, local_rank_ == 0 ? 0 : MPI_UNDEFINED, rank_, &leaders);
  int index = 0;
  if (leaders != MPI_COMM_NULL) {
    MPI_Comm_rank(leaders, &index);
    gather_nodes(local, leaders);
    MPI_Comm_free(&leaders);
  }
  MPI_Bcast(&index, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  if (leads()) node_of_.resize(static_cast<std::size_t>(size_));
  MPI_Gather(&index, 1, MPI_INT, node_of_.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::array<char, 512> message{};
  if (leads()) contradiction(nodes_).copy(message.data(), message.size() - 1);
  MPI_Bcast(message.data(), message.size(), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (message.front() != '\0') throw LaunchError(message.data());
}

void Ranks::gather_nodes(const NodeRecord& local, MPI_Comm leaders) {
  int count = 0;
  MPI_Comm_size(leaders, &count);
  if (leads()) nodes_.resize(static_cast<std::size_t>(count));
  MPI_Gather(&local, sizeof local, MPI_BYTE, nodes_.data(), sizeof local, MPI_BYTE, 0, leaders);
}

}  // namespace nameplate
