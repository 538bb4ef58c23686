// Collective communication in which whoever waits sleeps. It is made of single messages: a non-blocking collective of
// the library's would stay in what Open MPI looks at whenever it waits, beside the messages that are measured.
#pragma once

#include <cstddef>
#include <functional>

#include "mpi/ranks.h"

namespace nameplate {

// What the leading rank has in `bytes` is everybody's afterwards.
void broadcast_asleep(void* bytes, std::size_t size, MPI_Comm among = MPI_COMM_WORLD);

// Towards the leading rank: `merge` is called with what each rank below has gathered, and what it makes of `bytes` goes
// on from there. `bytes` is the same on all ranks in size.
void reduce_asleep(void* bytes, std::size_t size, const std::function<void(const void* other)>& merge,
                   MPI_Comm among = MPI_COMM_WORLD);

// Returns when every rank has called it. They do not wake up at the same time.
void barrier_asleep(MPI_Comm among);

// Waits for a message of `size` bytes, asleep for 20 µs at first, later for up to 1 ms.
void receive_asleep(void* bytes, std::size_t size, int from, int tag, MPI_Comm among = MPI_COMM_WORLD);

}  // namespace nameplate
