#include "mpi/message.h"

#include <algorithm>
#include <cstring>

#include "kernels/operands.h"

namespace nameplate {

namespace {

constexpr int kMessage = 0;

}  // namespace

Data parse_data(std::string_view word) {
  if (word == "echo") return Data::echo;
  return word == "fresh" ? Data::fresh : Data::unchanged;
}

Message::Message(int size_bytes, Data data) : size_bytes_(size_bytes), data_(data) {
  const auto bytes = static_cast<std::size_t>(std::max(size_bytes, 1));
  sent_ = Buffer(bytes, Pages::small);
  received_ = Buffer(bytes, Pages::small);
  std::uint64_t number = 0;
  std::ranges::generate(sent_.as<std::uint8_t>(), [&] { return static_cast<std::uint8_t>(finalised(++number)); });
  received_.touch(0, bytes);
}

void Message::renew() {
  ++number_;
  const std::span<std::uint8_t> content = sent_.as<std::uint8_t>();
  std::memcpy(content.data(), &number_, std::min(content.size(), sizeof number_));
}

void Message::exchange(std::uint64_t repetitions, int partner, MPI_Comm among) {
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    write_if_fresh();
    MPI_Send(sent_.data(), size_bytes_, MPI_BYTE, partner, kMessage, among);
    MPI_Recv(received_.data(), size_bytes_, MPI_BYTE, partner, kMessage, among, MPI_STATUS_IGNORE);
  }
}

void Message::answer(std::uint64_t repetitions, int partner, MPI_Comm among) {
  const void* content = data_ == Data::echo ? received_.data() : sent_.data();
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    MPI_Recv(received_.data(), size_bytes_, MPI_BYTE, partner, kMessage, among, MPI_STATUS_IGNORE);
    write_if_fresh();
    MPI_Send(content, size_bytes_, MPI_BYTE, partner, kMessage, among);
  }
}

// Each message has another byte, so that every one of its cache lines really changes.
void Message::write_if_fresh() {
  if (data_ != Data::fresh) return;
  std::memset(sent_.data(), static_cast<int>(++written_), static_cast<std::size_t>(size_bytes_));
}

bool Message::is_received_right() const {
  return std::memcmp(sent_.data(), received_.data(), static_cast<std::size_t>(size_bytes_)) == 0;
}

}  // namespace nameplate
