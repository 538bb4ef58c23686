/* The plain loop as a program. Arguments: bytes, repetitions per batch, batches, what is sent. Prints one-way seconds
   per batch. */
#include "plain_pingpong.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int bytes = atoi(argv[1]);
  const int repetitions = atoi(argv[2]);
  const int batches = atoi(argv[3]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* sent = plain_message(bytes, 1);
  char* received = plain_message(bytes, 2);
  for (int batch = 0; batch < batches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    plain_pingpong(sent, received, bytes, repetitions, rank, argv[4]);
    if (rank == 0) printf("%.12g\n", (MPI_Wtime() - start) / (2.0 * repetitions));
  }
  MPI_Finalize();
  return 0;
}
