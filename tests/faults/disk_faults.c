// Tests preload this library into nameplate-core to make system calls of the disk probe fail or misbehave.
//   NAMEPLATE_FAULT = CALL:BYTES:FROM:WHAT
// CALL is pread, pwrite, fdatasync or open. Calls with a length count only if it is BYTES (0: any length). For open,
// BYTES are flags that must be set (in decimal). From the FROM-th call on, WHAT happens: a number is the errno of a
// failure, "corrupt" flips a bit of the written data, and "lose" writes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long g_calls;

// Returns WHAT if this call must misbehave, else NULL.
static const char* fault_of(const char* call, size_t bytes) {
  static __thread char what[32];
  const char* fault = getenv("NAMEPLATE_FAULT");
  const size_t length = strlen(call);
  if (fault == NULL || strncmp(fault, call, length) != 0 || fault[length] != ':') return NULL;
  char* rest;
  const size_t wanted = strtoul(fault + length + 1, &rest, 10);
  const long from = strtol(rest + 1, &rest, 10);
  strncpy(what, rest + 1, sizeof(what) - 1);
  if (strcmp(call, "open") == 0 ? (bytes & wanted) != wanted : wanted != 0 && wanted != bytes) return NULL;
  return atomic_fetch_add(&g_calls, 1) + 1 >= from ? what : NULL;
}

static void* real(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  const char* what = fault_of("pread", bytes);
  if (what != NULL && atoi(what) > 0) {
    errno = atoi(what);
    return -1;
  }
  const ssize_t got = ((ssize_t(*)(int, void*, size_t, off_t))real("pread"))(descriptor, data, bytes, offset);
  if (what != NULL && got > 0) ((char*)data)[got - 1] ^= 1;
  return got;
}

ssize_t pread64(int descriptor, void* data, size_t bytes, off_t offset) { return pread(descriptor, data, bytes, offset); }

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  const char* what = fault_of("pwrite", bytes);
  ssize_t (*const write_it)(int, const void*, size_t, off_t) = real("pwrite");
  if (what == NULL) return write_it(descriptor, data, bytes, offset);
  if (strcmp(what, "lose") == 0) return (ssize_t)bytes;
  if (strcmp(what, "corrupt") == 0) {
    char* copy = malloc(bytes);
    memcpy(copy, data, bytes);
    copy[bytes - 1] ^= 1;
    const ssize_t written = write_it(descriptor, copy, bytes, offset);
    free(copy);
    return written;
  }
  errno = atoi(what);
  return -1;
}

ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off_t offset) {
  return pwrite(descriptor, data, bytes, offset);
}

int fdatasync(int descriptor) {
  const char* what = fault_of("fdatasync", 0);
  if (what == NULL) return ((int (*)(int))real("fdatasync"))(descriptor);
  errno = atoi(what);
  return -1;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  const char* what = fault_of("open", (size_t)(unsigned)flags);
  if (what == NULL) return ((int (*)(const char*, int, ...))real("open"))(path, flags, mode);
  errno = atoi(what);
  return -1;
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open(path, flags, mode);
}
