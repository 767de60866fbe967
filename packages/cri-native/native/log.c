/* The log of a container, as the Kubernetes CRI wants it: `TIME stdout|stderr F|P TEXT`, P where a line goes on. */
#include "hold.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 16384 };
static int log_fd = -1;
static struct {
  char bytes[LINE_BYTES];
  size_t length;
} lines[2];

/* Opens the log, or opens it anew after it was moved away. What cannot be opened is not written. */
void open_log(const char *file) {
  int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0) fail("open the log", file);
  if (log_fd >= 0) close(log_fd);
  log_fd = fd;
}

static void write_line(int stream, char tag) {
  struct timespec now;
  struct tm date;
  char head[80];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &date);
  size_t length = strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%S", &date);
  int more = snprintf(head + length, sizeof head - length, ".%09ldZ %s %c ", now.tv_nsec, stream ? "stderr" : "stdout", tag);
  struct iovec parts[] = {{head, length + (size_t)more}, {lines[stream].bytes, lines[stream].length}, {"\n", 1}};
  /* On a full disk lines are lost; the program must not stand still for that. */
  (void)!writev(log_fd, parts, 3);
  lines[stream].length = 0;
}

void log_bytes(int stream, const char *bytes, size_t length) {
  if (log_fd < 0) return;
  while (length > 0) {
    const char *newline = memchr(bytes, '\n', length);
    size_t room = LINE_BYTES - lines[stream].length, part = newline ? (size_t)(newline - bytes) : length;
    size_t taken = part < room ? part : room;
    memcpy(lines[stream].bytes + lines[stream].length, bytes, taken);
    lines[stream].length += taken;
    bytes += taken, length -= taken;
    if (newline && taken == part) write_line(stream, 'F'), bytes++, length--;
    else if (lines[stream].length == LINE_BYTES) write_line(stream, 'P');
  }
}

/* Text without a newline at its end is part of a line. */
void end_log(void) {
  for (int stream = 0; stream < 2; stream++)
    if (log_fd >= 0 && lines[stream].length > 0) write_line(stream, 'P');
}
