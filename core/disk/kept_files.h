// Files that are dear to make are kept for the experiments after this one, and for the processes after this one: the
// program that started this one holds them open meanwhile, so that they go when it goes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "disk/test_file.h"

namespace nameplate {

class KeptFiles {
 public:
  // `keeper` is a socket (AF_UNIX, SOCK_SEQPACKET) in which files of earlier processes are waiting, each a message of
  // its key with its descriptor, and into which new ones are put.
  void connect(int keeper);

  // The file of this key, made now if there is none yet.
  const TestFile& obtain(const std::string& key, const FilePlace& place, std::int64_t bytes,
                         const std::function<std::unique_ptr<TestFile>()>& make);

 private:
  void receive();
  void send(const std::string& key, int descriptor) const;

  int keeper_ = -1;
  std::map<std::string, Descriptor> waiting_;
  std::map<std::string, std::unique_ptr<TestFile>> files_;
};

}  // namespace nameplate
