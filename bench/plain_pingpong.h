// The loop that everybody writes, of MPI_Send and MPI_Recv: a message goes back and forth so many times.
#pragma once
#include <mpi.h>

static inline void plain_pingpong(char* sent, char* received, int bytes, int repetitions, int rank) {
  const int other = 1 - rank;
  for (int i = 0; i < repetitions; ++i) {
    if (rank == 0) {
      MPI_Send(sent, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
      MPI_Recv(received, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(received, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(received, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
  }
}
