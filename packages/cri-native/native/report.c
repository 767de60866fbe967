/* How the outcome is told: one line to the program that started us, and a state file that outlives both. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int report_fd = STDOUT_FILENO;

int write_all(int fd, const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t count = write(fd, at, length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    at += count, length -= (size_t)count;
  }
  return 0;
}

/* Says what could not be done, in one write, which is one message where the channel has messages. */
void fail(const char *what, const char *subject) {
  char text[512];
  const char *reason = errno ? strerror(errno) : "";
  int length = snprintf(text, sizeof text, "error %s%s%.300s%s%s\n", what, *subject ? " " : "", subject, *reason ? ": " : "", reason);
  if (length >= (int)sizeof text) length = (int)sizeof text - 1;
  write_all(report_fd, text, (size_t)length);
  _exit(1);
}

/* Temp and rename: a reader sees all of it or nothing. */
void write_whole(const char *file, const char *text, size_t length) {
  char draft[64];
  snprintf(draft, sizeof draft, "%s.draft", file);
  int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write_all(fd, text, length) < 0 || rename(draft, file) < 0) fail("write", file);
  close(fd);
}

/* Clock ticks since boot, field 22 of /proc/PID/stat; with the pid it names a process for ever. 0: there is none. */
unsigned long long start_time(pid_t pid) {
  char file[64], text[1024];
  snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  /* Field 2 is the program's name in parentheses, which may itself have blanks and parentheses. */
  const char *at = strrchr(text, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, NULL, 10) : 0;
}

void say_ok(pid_t pid) {
  char text[96];
  int length = snprintf(text, sizeof text, "ok %d %llu\n", (int)pid, start_time(pid));
  write_all(STDOUT_FILENO, text, (size_t)length); /* no process may be left to read it */
}

long long now_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
}

void write_state(pid_t pid, long long started, const char *more) {
  static unsigned long long start; /* of a process that has ended it cannot be asked any more */
  char text[1024];
  if (!start && pid > 0) start = start_time(pid);
  int length = snprintf(text, sizeof text, "pid %d\nstart %llu\nstarted %lld\n%s", (int)pid, start, started, more);
  write_whole("state", text, (size_t)length);
}
