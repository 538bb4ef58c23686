// An open file that is closed when its owner is destroyed.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace nameplate {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  // Lets programs that are started from now on have it, too.
  void let_inherit() const { fcntl(number_, F_SETFD, 0); }

 private:
  int number_ = -1;
};

}  // namespace nameplate
