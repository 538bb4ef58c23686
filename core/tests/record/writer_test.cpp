#include "record/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>

#include "machine/descriptor.h"

namespace nameplate {
namespace {

TEST(RecordWriter, ReportsAFullDisk) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);  // NOLINT: the system's own signature
  ASSERT_GE(full, 0);
  EXPECT_THROW(RecordWriter(full).write({{"type", "end"}}), std::system_error);
  close(full);
}

TEST(RecordWriter, GivesUpAReaderThatWaitsOnceAStopIsRequested) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  const std::atomic<bool> stop_requested = true;
  const std::string more_than_fits(std::size_t{1} << 20U, 'x');
  EXPECT_THROW(RecordWriter(writer.number(), &stop_requested).write_line(more_than_fits), std::system_error);
}

TEST(RecordWriter, WritesALongLineToASlowReaderAlsoAfterAStop) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor reader(ends[0]);
  const std::string line(std::size_t{1} << 20U, 'x');
  std::string read_text;
  std::thread slow([&reader, &read_text] {
    std::array<char, 10'000> part{};
    for (ssize_t n = 0; (n = read(reader.number(), part.data(), part.size())) > 0;) {
      read_text.append(part.data(), static_cast<std::size_t>(n));
    }
  });
  {
    const Descriptor writer(ends[1]);
    const std::atomic<bool> stop_requested = true;
    RecordWriter(writer.number(), &stop_requested).write_line(line);
  }
  slow.join();
  EXPECT_EQ(read_text, line + "\n");
}

}  // namespace
}  // namespace nameplate
