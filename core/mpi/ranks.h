// The processes of the MPI job and their nodes.
#pragma once

// The libraries' C++ bindings are not used: MPI 3 has none.
#define OMPI_SKIP_MPICXX 1   // NOLINT: the library's own switch
#define MPICH_SKIP_MPICXX 1  // NOLINT: the library's own switch
#include <mpi.h>

#include <string>
#include <vector>

#include "cluster/nodes.h"

namespace nameplate {

// Initialises MPI for its lifetime.
class MpiLibrary {
 public:
  MpiLibrary();
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;
  MpiLibrary(MpiLibrary&&) = delete;
  MpiLibrary& operator=(MpiLibrary&&) = delete;
  ~MpiLibrary() { MPI_Finalize(); }
};

// At most one per process.
class Ranks {
 public:
  // Collective. Throws LaunchError if the launcher started more processes than MPI sees, or if the evidence about nodes
  // is contradictory.
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  Ranks(Ranks&&) = delete;
  Ranks& operator=(Ranks&&) = delete;
  ~Ranks() { instance_ = nullptr; }

  static Ranks& get();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }
  int ranks_on_node() const { return ranks_on_node_; }
  // Among the ranks of its node, counted from 0.
  int local_rank() const { return local_rank_; }
  // Only on the leading rank; no other rank needs to know the whole job.
  const std::vector<NodeRecord>& nodes() const { return nodes_; }
  // Returns the index in `nodes` of a rank's node; only on the leading rank.
  int node_of(int rank) const { return node_of_.at(static_cast<std::size_t>(rank)); }

 private:
  void find_nodes();
  void gather_nodes(const NodeRecord& local, MPI_Comm leaders);

  static Ranks* instance_;
  MpiLibrary library_;
  int rank_ = 0;
  int size_ = 1;
  int ranks_on_node_ = 1;
  int local_rank_ = 0;
  std::vector<NodeRecord> nodes_;
  std::vector<int> node_of_;
};

}  // namespace nameplate
