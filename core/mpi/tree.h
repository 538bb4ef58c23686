// Collective communication in which waiting ranks sleep. It uses single messages: a non-blocking collective of the
// library would be polled by Open MPI whenever it waits, next to the messages that are measured.
#pragma once

#include <cstddef>
#include <functional>

#include "mpi/ranks.h"

namespace nameplate {

// Sends the leading rank's `bytes` to all ranks.
void broadcast_asleep(void* bytes, std::size_t size, MPI_Comm among = MPI_COMM_WORLD);

// Reduces towards the leading rank: `merge` is called with what each rank below has gathered, and updates `bytes`,
// which has the same size on all ranks.
void reduce_asleep(void* bytes, std::size_t size, const std::function<void(const void* other)>& merge,
                   MPI_Comm among = MPI_COMM_WORLD);

// Returns after every rank has called it. Ranks do not wake up at the same time.
void barrier_asleep(MPI_Comm among);

// Waits for a message of `size` bytes, sleeping 20 µs at first, later up to 1 ms.
void receive_asleep(void* bytes, std::size_t size, int from, int tag, MPI_Comm among = MPI_COMM_WORLD);

}  // namespace nameplate
