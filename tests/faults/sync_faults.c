// Tests preload this library into nameplate to simulate a disk that loses all data that were not synced. After each
// fsync of a file whose name ends in .jsonl, the library copies its content to the file NAMEPLATE_SYNCED, which then
// has what would be left after a crash of the machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void copy(int from, const char* to) {
  char beside[4096];
  snprintf(beside, sizeof(beside), "%s.part", to);
  const int target = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  struct stat status;
  off_t at = 0;
  fstat(from, &status);
  while (at < status.st_size && sendfile(target, from, &at, (size_t)(status.st_size - at)) > 0) {
  }
  close(target);
  rename(beside, to);
}

int fsync(int descriptor) {
  const int result = ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
  const char* to = getenv("NAMEPLATE_SYNCED");
  char link[64];
  char path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof(path));
  if (to != NULL && length > 6 && strncmp(path + length - 6, ".jsonl", 6) == 0) copy(descriptor, to);
  return result;
}
