/* Preloaded into a process, it writes down what the process does to the files below RECORD_ROOT, in order, and what it says on its
 * standard streams. Each record is a line of numbers, then the path, the second path and the data:
 *   <operation> <inode> <offset> <length of path> <length of second path> <length of data>\n
 * For Linux on 64 bits. libuv reaches some calls through syscall(); io_uring must be off (UV_USE_IO_URING=0). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long (*kernel)(long, ...);
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static int record_file = -1;
static struct stat spoken[3];

__attribute__((constructor)) static void begin(void) {
  kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  const char *from = getenv("RECORD_ROOT");
  const char *to = getenv("RECORD_FILE");
  if (from == NULL || to == NULL) return;
  root_length = (size_t)snprintf(root, sizeof root, "%s", from);
  record_file = (int)kernel(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  for (int fd = 1; fd <= 2; fd++) fstat(fd, &spoken[fd]);
}

static int within(const char *path) {
  return record_file >= 0 && strncmp(path, root, root_length) == 0 &&
         (path[root_length] == '/' || path[root_length] == '\0');
}

/* The whole path of a name, its directories resolved as the kernel resolves them. 0 where it is none of ours. */
static int place_of(int directory, const char *name, char *path) {
  if (record_file < 0 || name == NULL || name[0] == '\0') return 0;
  char whole[PATH_MAX], parent[PATH_MAX], real[PATH_MAX];
  if (name[0] == '/') {
    if (snprintf(whole, sizeof whole, "%s", name) >= (int)sizeof whole) return 0;
  } else {
    char link[64];
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, parent, sizeof parent - 1);
    if (length < 0) return 0;
    parent[length] = '\0';
    if (snprintf(whole, sizeof whole, "%s/%s", parent, name) >= (int)sizeof whole) return 0;
  }
  size_t length = strlen(whole);
  while (length > 1 && whole[length - 1] == '/') whole[--length] = '\0';
  char *last = strrchr(whole, '/');
  if (last == NULL || last == whole) return 0;
  *last = '\0';
  const char *above = realpath(whole, real) == NULL ? whole : real;
  if (snprintf(path, PATH_MAX, "%s/%s", above, last + 1) >= PATH_MAX) return 0;
  return within(path);
}

static int place_of_file(int fd, char *path) {
  if (record_file < 0) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return within(path);
}

static void put(const void *bytes, size_t length) {
  for (const char *from = bytes; length > 0;) {
    long written = kernel(SYS_write, record_file, from, length);
    if (written < 0) abort();
    from += written;
    length -= (size_t)written;
  }
}

static void note(const char *operation, unsigned long inode, long long offset, const char *path, const char *other,
                 const void *data, size_t length) {
  int before = errno;
  char head[256];
  int size = snprintf(head, sizeof head, "%s %lu %lld %zu %zu %zu\n", operation, inode, offset, strlen(path),
                      strlen(other), length);
  put(head, (size_t)size);
  put(path, strlen(path));
  put(other, strlen(other));
  put(data, length);
  errno = before;
}

static unsigned long inode_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

/* ---- the locks of POSIX: the close of any descriptor of a file drops all that this process holds on it ---- */

struct range { int fd; dev_t device; ino_t inode; long long from, to; };
static struct range held[1024];
static int held_count;

static void locked(int fd, const struct flock *lock) {
  struct stat status;
  if (fstat(fd, &status) != 0) return;
  long long from = lock->l_start, to = lock->l_len == 0 ? LLONG_MAX : from + lock->l_len;
  int kept = 0;
  for (int at = 0; at < held_count; at++) {
    struct range *one = &held[at];
    int covered = one->device == status.st_dev && one->inode == status.st_ino && one->from >= from && one->to <= to;
    if (!covered) held[kept++] = *one;
  }
  held_count = kept;
  if (lock->l_type != F_UNLCK && held_count < 1024)
    held[held_count++] = (struct range){fd, status.st_dev, status.st_ino, from, to};
}

static void closing(int fd) {
  char path[PATH_MAX];
  struct stat status;
  if (!place_of_file(fd, path) || fstat(fd, &status) != 0) return;
  int kept = 0, lost = 0;
  for (int at = 0; at < held_count; at++) {
    struct range *one = &held[at];
    if (one->device != status.st_dev || one->inode != status.st_ino) held[kept++] = *one;
    else if (one->fd != fd) lost = 1;
  }
  held_count = kept;
  if (lost) note("locks-lost", (unsigned long)status.st_ino, 0, path, "", "", 0);
}

/* ---- files ---- */

static int open_at(int directory, const char *name, int flags, mode_t mode) {
  char path[PATH_MAX];
  int writes = (flags & (O_CREAT | O_TRUNC)) != 0;
  if (!writes || !place_of(directory, name, path)) return (int)kernel(SYS_openat, directory, name, flags, mode);
  pthread_mutex_lock(&order);
  struct stat before;
  int was = stat(path, &before) == 0;
  int fd = (int)kernel(SYS_openat, directory, name, flags, mode);
  if (fd >= 0 && !was) note("create", inode_of(fd), 0, path, "", "", 0);
  else if (fd >= 0 && (flags & O_TRUNC)) note("truncate", inode_of(fd), 0, path, "", "", 0);
  pthread_mutex_unlock(&order);
  return fd;
}

#define OPENS(name)                                                     \
  int name(const char *path, int flags, ...) {                          \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;         \
    va_end(rest);                                                       \
    return open_at(AT_FDCWD, path, flags, mode);                        \
  }
#define OPENS_AT(name)                                                  \
  int name(int directory, const char *path, int flags, ...) {           \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;         \
    va_end(rest);                                                       \
    return open_at(directory, path, flags, mode);                       \
  }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

static int speaks(int fd) {
  struct stat status;
  if (record_file < 0 || fstat(fd, &status) != 0) return 0;
  for (int stream = 1; stream <= 2; stream++)
    if (status.st_dev == spoken[stream].st_dev && status.st_ino == spoken[stream].st_ino) return stream;
  return 0;
}

/* `offset` below 0: where the descriptor stands. */
static ssize_t write_at(int fd, const struct iovec *chunks, int count, long long offset) {
  char path[PATH_MAX];
  int stream = speaks(fd);
  int ours = stream == 0 && place_of_file(fd, path);
  if (stream || ours) pthread_mutex_lock(&order);
  ssize_t written = offset < 0 ? kernel(SYS_writev, fd, chunks, count)
                               : kernel(SYS_pwritev, fd, chunks, count, (long)offset, 0L);
  if (!stream && !ours) return written;
  int before = errno;
  if (written > 0) {
    char *data = malloc((size_t)written);
    size_t taken = 0;
    for (int at = 0; at < count && taken < (size_t)written; at++) {
      size_t part = chunks[at].iov_len < (size_t)written - taken ? chunks[at].iov_len : (size_t)written - taken;
      memcpy(data + taken, chunks[at].iov_base, part);
      taken += part;
    }
    if (ours && offset < 0) offset = lseek(fd, 0, SEEK_CUR) - written;
    if (ours) note("write", inode_of(fd), offset, path, "", data, (size_t)written);
    else note("say", 0, stream, "", "", data, (size_t)written);
    free(data);
  }
  pthread_mutex_unlock(&order);
  errno = before;
  return written;
}

ssize_t write(int fd, const void *data, size_t length) {
  struct iovec one = {(void *)data, length};
  return write_at(fd, &one, 1, -1);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  struct iovec one = {(void *)data, length};
  return write_at(fd, &one, 1, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec *chunks, int count) { return write_at(fd, chunks, count, -1); }
ssize_t pwritev(int fd, const struct iovec *chunks, int count, off_t at) { return write_at(fd, chunks, count, at); }
ssize_t pwritev64(int fd, const struct iovec *chunks, int count, off64_t at) { return write_at(fd, chunks, count, at); }

static int sync_with(long number, int fd) {
  char path[PATH_MAX];
  if (!place_of_file(fd, path)) return (int)kernel(number, fd);
  pthread_mutex_lock(&order);
  int result = (int)kernel(number, fd);
  if (result == 0) note("sync", inode_of(fd), 0, path, "", "", 0);
  pthread_mutex_unlock(&order);
  return result;
}
int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t size) {
  char path[PATH_MAX];
  if (!place_of_file(fd, path)) return (int)kernel(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&order);
  int result = (int)kernel(SYS_ftruncate, fd, size);
  if (result == 0) note("truncate", inode_of(fd), size, path, "", "", 0);
  pthread_mutex_unlock(&order);
  return result;
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

/* ---- names ---- */

static int name_with(const char *operation, int from, const char *old, int to, const char *new, long number, unsigned flags) {
  char path[PATH_MAX] = "", other[PATH_MAX] = "";
  int ours = place_of(from, old, path);
  if (new != NULL) ours |= place_of(to, new, other);
  if (ours) pthread_mutex_lock(&order);
  int result = number == SYS_mkdirat    ? (int)kernel(number, from, old, flags)
               : number == SYS_unlinkat ? (int)kernel(number, from, old, flags)
                                        : (int)kernel(number, from, old, to, new, flags);
  if (!ours) return result;
  if (result == 0) note(operation, 0, 0, path, other, "", 0);
  pthread_mutex_unlock(&order);
  return result;
}
int rename(const char *old, const char *new) { return name_with("rename", AT_FDCWD, old, AT_FDCWD, new, SYS_renameat2, 0); }
int renameat(int from, const char *old, int to, const char *new) { return name_with("rename", from, old, to, new, SYS_renameat2, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) { return name_with("rename", from, old, to, new, SYS_renameat2, flags); }
int link(const char *old, const char *new) { return name_with("link", AT_FDCWD, old, AT_FDCWD, new, SYS_linkat, 0); }
int linkat(int from, const char *old, int to, const char *new, int flags) { return name_with("link", from, old, to, new, SYS_linkat, (unsigned)flags); }
int unlink(const char *path) { return name_with("unlink", AT_FDCWD, path, 0, NULL, SYS_unlinkat, 0); }
int rmdir(const char *path) { return name_with("unlink", AT_FDCWD, path, 0, NULL, SYS_unlinkat, AT_REMOVEDIR); }
int unlinkat(int directory, const char *path, int flags) { return name_with("unlink", directory, path, 0, NULL, SYS_unlinkat, (unsigned)flags); }
int remove(const char *path) {
  int result = unlink(path);
  return result != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}
int mkdir(const char *path, mode_t mode) { return name_with("mkdir", AT_FDCWD, path, 0, NULL, SYS_mkdirat, mode); }
int mkdirat(int directory, const char *path, mode_t mode) { return name_with("mkdir", directory, path, 0, NULL, SYS_mkdirat, mode); }

/* ---- descriptors ---- */

int close(int fd) {
  pthread_mutex_lock(&order);
  closing(fd);
  int result = (int)kernel(SYS_close, fd);
  pthread_mutex_unlock(&order);
  return result;
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  char path[PATH_MAX];
  if ((command != F_SETLK && command != F_SETLKW) || !place_of_file(fd, path)) return (int)kernel(SYS_fcntl, fd, command, argument);
  pthread_mutex_lock(&order);
  int result = (int)kernel(SYS_fcntl, fd, command, argument);
  if (result == 0) locked(fd, argument);
  pthread_mutex_unlock(&order);
  return result;
}
int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  return fcntl(fd, command, argument);
}

long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  if (kernel == NULL) kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  if (record_file >= 0 && number == SYS_close) return close((int)a);
  if (record_file >= 0 && number == SYS_pwritev) return write_at((int)a, (const struct iovec *)b, (int)c, (long long)d);
  return kernel(number, a, b, c, d, e, f);
}
