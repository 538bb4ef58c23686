// Tests preload this library into nameplate-core to make system calls of the disk probe fail or misbehave.
//   NAMEPLATE_FAULT = CALL:BYTES:FROM:ACTION
// CALL is pread, pwrite, fdatasync or open. Calls with a length count only if it is BYTES (0: any length). For open,
// BYTES are flags that must be set (in decimal). From the FROM-th call on, ACTION happens: a number is the errno of a
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

// Returns ACTION if this call must misbehave, else NULL.
static const char* fault_of(const char* call, size_t bytes) {
  static __thread char action[32];
  const char* fault = getenv("NAMEPLATE_FAULT");
  const size_t length = strlen(call);
  if (fault == NULL || strncmp(fault, call, length) != 0 || fault[length] != ':') return NULL;
  char* rest;
  const size_t required = strtoul(fault + length + 1, &rest, 10);
  const long from = strtol(rest + 1, &rest, 10);
  strncpy(action, rest + 1, sizeof(action) - 1);
  if (strcmp(call, "open") == 0 ? (bytes & required) != required : required != 0 && required != bytes) return NULL;
  return atomic_fetch_add(&g_calls, 1) + 1 >= from ? action : NULL;
}

static void* real(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  const char* action = fault_of("pread", bytes);
  if (action != NULL && atoi(action) > 0) {
    errno = atoi(action);
    return -1;
  }
  const ssize_t got = ((ssize_t(*)(int, void*, size_t, off_t))real("pread"))(descriptor, data, bytes, offset);
  if (action != NULL && got > 0) ((char*)data)[got - 1] ^= 1;
  return got;
}

ssize_t pread64(int descriptor, void* data, size_t bytes, off_t offset) { return pread(descriptor, data, bytes, offset); }

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  const char* action = fault_of("pwrite", bytes);
  ssize_t (*const write_it)(int, const void*, size_t, off_t) = real("pwrite");
  if (action == NULL) return write_it(descriptor, data, bytes, offset);
  if (strcmp(action, "lose") == 0) return (ssize_t)bytes;
  if (strcmp(action, "corrupt") == 0) {
    char* copy = malloc(bytes);
    memcpy(copy, data, bytes);
    copy[bytes - 1] ^= 1;
    const ssize_t written = write_it(descriptor, copy, bytes, offset);
    free(copy);
    return written;
  }
  errno = atoi(action);
  return -1;
}

ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off_t offset) {
  return pwrite(descriptor, data, bytes, offset);
}

int fdatasync(int descriptor) {
  const char* action = fault_of("fdatasync", 0);
  if (action == NULL) return ((int (*)(int))real("fdatasync"))(descriptor);
  errno = atoi(action);
  return -1;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  const char* action = fault_of("open", (size_t)(unsigned)flags);
  if (action == NULL) return ((int (*)(const char*, int, ...))real("open"))(path, flags, mode);
  errno = atoi(action);
  return -1;
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open(path, flags, mode);
}
