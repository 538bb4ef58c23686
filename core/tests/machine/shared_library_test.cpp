#include "machine/shared_library.h"

#include <gtest/gtest.h>

#include "probe/error.h"

namespace nameplate {
namespace {

TEST(SharedLibrary, AMissingLibraryIsSkippedWithItsPackage) {
  try {
    const SharedLibrary library("libnowhere.so.1", "libnowhere1");
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    EXPECT_STREQ(error.what(), "libnowhere.so.1 is not on this machine; apt install libnowhere1");
  }
}

TEST(SharedLibrary, FindsTheFunctionsOfTheLibrary) {
  const SharedLibrary library("libm.so.6", "libc6");
  EXPECT_EQ(library.function<double(double)>("sqrt")(4), 2);
  EXPECT_THROW(library.function<void()>("no_such_function"), ProbeError);
}

TEST(SharedLibrary, UsesTheFirstLibraryThatExists) {
  EXPECT_EQ(SharedLibrary::first_of({"libnowhere.so.1", "libm.so.6", "libc.so.6"}, "libc6").name(), "libm.so.6");
  EXPECT_EQ(SharedLibrary::first_of({"libm.so.6", "libnowhere.so.1"}, "libc6").name(), "libm.so.6");
  EXPECT_THROW(SharedLibrary::first_of({"libnowhere.so.1", "libnowhere.so.2"}, "libnowhere2"), ProbeError);
}

TEST(SharedLibrary, AGivenLibraryFailsWithTheLoadersMessage) {
  try {
    SharedLibrary::of_user("/nowhere/libm.so");
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::failed);
    EXPECT_STREQ(error.what(),
                 "cannot load /nowhere/libm.so: cannot open shared object file: No such file or directory");
  }
}

TEST(SharedLibrary, NamesAMissingFunction) {
  const SharedLibrary library("libm.so.6", "libc6");
  EXPECT_EQ(library.function_if_there<void()>("no_such_function"), nullptr);
  EXPECT_NE(library.function_if_there<void()>("sqrt"), nullptr);
}

}  // namespace
}  // namespace nameplate
