#include "machine/shared_library.h"

#include <gtest/gtest.h>

#include "probe/error.h"

namespace nameplate {
namespace {

TEST(SharedLibrary, ThatIsMissingIsSkippedWithItsPackage) {
  try {
    const SharedLibrary library("libnowhere.so.1", "libnowhere1");
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    EXPECT_STREQ(error.what(), "libnowhere.so.1 is not on this machine: apt install libnowhere1");
  }
}

TEST(SharedLibrary, HasTheFunctionsItHas) {
  const SharedLibrary library("libm.so.6", "libc6");
  EXPECT_EQ(library.function<double(double)>("sqrt")(4), 2);
  EXPECT_THROW(library.function<void()>("no_such_function"), ProbeError);
}

}  // namespace
}  // namespace nameplate
