// Flips a byte of every message from one rank to another, as a faulty link would: FAULTY_LINK=2-1.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Smaller messages are control messages of nameplate.
enum { kSmallest = 1000 };

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm among) {
  int rank = 0, from = -1, faulty_to = -1;
  const char *link = getenv("FAULTY_LINK");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (link == NULL || sscanf(link, "%d-%d", &from, &faulty_to) != 2 || rank != from || to != faulty_to ||
      type != MPI_BYTE || count < kSmallest) {
    return PMPI_Send(bytes, count, type, to, tag, among);
  }
  char *flipped = malloc(count);
  memcpy(flipped, bytes, count);
  flipped[count - 1] ^= 1;
  const int result = PMPI_Send(flipped, count, type, to, tag, among);
  free(flipped);
  return result;
}
