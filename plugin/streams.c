#define _GNU_SOURCE
#include "streams.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NANOSECONDS 10000000L

/* True when the call is worth repeating. A descriptor that the caller made non-blocking is waited for. */
static int may_repeat(int fd, short events) {
  if (errno == EINTR) return 1;
  if (errno != EAGAIN) return 0;
  struct pollfd wait = {.fd = fd, .events = events};
  return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

ssize_t read_some(int fd, char *into, size_t room) {
  ssize_t count;
  do count = read(fd, into, room);
  while (count < 0 && may_repeat(fd, POLLIN));
  return count;
}

ssize_t read_all(int fd, char *into, size_t room) {
  size_t length = 0;
  while (length < room) {
    ssize_t count = read_some(fd, into + length, room - length);
    if (count < 0) return -1;
    if (count == 0) break;
    length += (size_t)count;
  }
  return (ssize_t)length;
}

int write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(fd, bytes, length);
    if (count >= 0) bytes += count, length -= (size_t)count;
    else if (!may_repeat(fd, POLLOUT)) return -1;
  }
  return 0;
}

int write_text(int fd, const char *text) { return write_all(fd, text, strlen(text)); }

int is_carried(const char *pair) {
  static const char *const prefixes[] = {"CNI_", "TRACEPARENT=", "TRACESTATE=", "BAGGAGE="};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(pair, prefixes[i], strlen(prefixes[i])) == 0) return strchr(pair, '=') != NULL;
  return 0;
}

const char *error_name(int error) {
#define NAME(code) {code, #code}
  static const struct {
    int error;
    const char *name;
  } names[] = {NAME(ENOENT), NAME(ECONNREFUSED), NAME(ECONNRESET), NAME(EPIPE),  NAME(EACCES), NAME(EPERM),
               NAME(ENOTDIR), NAME(ELOOP),       NAME(EPROTOTYPE), NAME(ENOTSOCK), NAME(EIO),   NAME(ENOMEM),
               NAME(EISDIR),  NAME(EBADF),       NAME(EMFILE),     NAME(ENFILE)};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].error == error) return names[i].name;
  return "an unexpected error";
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int connect_socket(int fd, const struct sockaddr_un *address, double seconds) {
  static const struct timespec pause = {0, RETRY_NANOSECONDS};
  double deadline = seconds_now() + seconds;
  while (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
    int absent = errno == ENOENT || errno == ECONNREFUSED;
    if (!absent && errno != EINTR && errno != EAGAIN) return -1;
    if (absent && seconds_now() >= deadline) return -1;
    nanosleep(&pause, NULL);
  }
  return 0;
}
