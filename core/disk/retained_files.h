// Keeps files that are expensive to create for later experiments and later processes: the program that started this one
// holds them open, so that they disappear when it ends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "disk/test_file.h"

namespace nameplate {

class RetainedFiles {
 public:
  // `keeper` is a socket (AF_UNIX, SOCK_SEQPACKET) that holds the files of earlier processes, one message per file with
  // key and descriptor, and takes new ones.
  void connect(int keeper);

  // Returns the file with this key, created now if there is none yet.
  const TestFile& obtain(const std::string& key, const FileLocation& location, std::int64_t bytes,
                         const std::function<std::unique_ptr<TestFile>()>& make);

 private:
  int keeper_ = -1;
  std::map<std::string, Descriptor> waiting_;
  std::map<std::string, std::unique_ptr<TestFile>> files_;
};

}  // namespace nameplate
