#include "record/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <system_error>

namespace nameplate {
namespace {

TEST(RecordWriter, ReportsAFullDisk) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);  // NOLINT: the system's own signature
  ASSERT_GE(full, 0);
  EXPECT_THROW(RecordWriter(full).write({{"type", "end"}}), std::system_error);
  close(full);
}

}  // namespace
}  // namespace nameplate
