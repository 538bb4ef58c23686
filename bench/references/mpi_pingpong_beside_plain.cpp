// Runs the loop of mpi_pingpong and the plain loop in the same two processes, batch by batch in alternating order. The
// system's placement of processes and pages has more influence on the time of a message than the choice of the loop.
//
// Arguments: bytes, repetitions per batch, batches of each loop, what is sent (`data` of mpi_pingpong). Prints the
// one-way seconds per batch: ours, theirs.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/message.h"
#include "plain_pingpong.h"

namespace {

using nameplate::Message;

struct Job {
  int rank;
  int bytes;
  int repetitions;
  const char* data;
};

// Times the batch as MpiPingpong::exchange does, with the clock that both loops share.
double ours(const Job& job, Message& message) {
  message.renew();
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank != 0) {
    message.answer(1 + job.repetitions, 0, MPI_COMM_WORLD);
    return 0;
  }
  message.exchange(1, 1, MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  message.exchange(job.repetitions, 1, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

double plain(const Job& job, char* sent, char* received) {
  MPI_Barrier(MPI_COMM_WORLD);
  plain_pingpong(sent, received, job.bytes, 1, job.rank, job.data);
  const double start = MPI_Wtime();
  plain_pingpong(sent, received, job.bytes, job.repetitions, job.rank, job.data);
  return MPI_Wtime() - start;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Job job{.rank = 0, .bytes = std::atoi(argv[1]), .repetitions = std::atoi(argv[2]), .data = argv[4]};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  const int batches = std::atoi(argv[3]);
  Message message(job.bytes, nameplate::parse_data(job.data));
  char* sent = plain_message(job.bytes, 1);
  char* received = plain_message(job.bytes, 2);
  for (int batch = 0; batch < batches; ++batch) {
    double seconds[2] = {0, 0};
    for (const int turn : {batch % 2, 1 - batch % 2}) {
      seconds[turn] = turn == 0 ? ours(job, message) : plain(job, sent, received);
    }
    if (job.rank == 0)
      std::printf("%.12g %.12g\n", seconds[0] / (2.0 * job.repetitions), seconds[1] / (2.0 * job.repetitions));
  }
  MPI_Finalize();
  return 0;
}
