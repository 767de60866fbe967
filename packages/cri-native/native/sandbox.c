/* Holds the UTS, IPC and, where the pod's containers share it, PID namespace of a pod. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

/* One part of a path below an open directory; what leads elsewhere is not there. */
static int open_part(int directory, const char *part, int flags) {
  if (*part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0) return openat(directory, part, flags | O_NOFOLLOW | O_CLOEXEC);
  errno = EINVAL;
  return -1;
}

/* `net.ipv4.ip_forward` is `net/ipv4/ip_forward` here, which TypeScript has checked. Part by part: it stays below /proc/sys. */
static int open_sysctl(const char *name) {
  char text[512];
  if (strlen(name) >= sizeof text) return errno = ENAMETOOLONG, -1;
  strcpy(text, name);
  int at = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char *part = text;
  for (char *slash; at >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
    *slash = 0;
    int next = open_part(at, part, O_PATH | O_DIRECTORY), why = errno;
    close(at), at = next, errno = why;
  }
  if (at < 0) return -1;
  int fd = open_part(at, part, O_WRONLY), why = errno;
  close(at), errno = why;
  return fd;
}

static void write_sysctl(const char *name, const char *value) {
  int fd = open_sysctl(name);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) fail("set sysctl", name);
  close(fd);
}

static void make_namespaces(const struct spec *spec) {
  if (is(spec->uts_mode, "pod")) {
    if (unshare(CLONE_NEWUTS) < 0) fail("make a UTS namespace", "");
    if (spec->hostname && sethostname(spec->hostname, strlen(spec->hostname)) < 0) fail("set hostname", spec->hostname);
  }
  if (is(spec->ipc_mode, "pod") && unshare(CLONE_NEWIPC) < 0) fail("make an IPC namespace", "");
  if (spec->netns) {
    int fd = open(spec->netns, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) fail("enter network namespace", spec->netns);
    close(fd);
  }
  for (size_t i = 0; i + 1 < spec->sysctls.count; i += 2) write_sysctl(spec->sysctls.list[i], spec->sysctls.list[i + 1]);
}

/* `Q` ends us, and with us what is in the PID namespace. Who only stays connected sees our end. */
static void take_frame(size_t index, struct frame frame) {
  (void)index;
  if (frame.type == 'Q') _exit(0);
}

static _Noreturn void wait_for_ever(int listener) {
  for (;;) {
    struct pollfd fds[CLIENTS + 1] = {{.fd = listener, .events = POLLIN}};
    size_t clients = client_count();
    for (size_t i = 0; i < clients; i++) fds[i + 1] = (struct pollfd){.fd = client_fd(i), .events = POLLIN};
    if (poll(fds, clients + 1, -1) < 0) continue;
    for (size_t i = clients; i-- > 0;)
      if (fds[i + 1].revents) serve_client(i, take_frame);
    if (fds[0].revents) accept_client(listener);
  }
}

/* Everything of us that the pod can see must be gone before a container starts in it: this pipe informs the parent. */
static _Noreturn void hold(int listener, int ready) {
  drop_access();
  if (ready >= 0) write_all(ready, "", 1), close(ready);
  close(STDOUT_FILENO);
  wait_for_ever(listener);
}

/* Only children get into a new PID namespace. SIGCHLD is ignored, so orphans of the pod vanish by themselves. */
static _Noreturn void hold_processes(int listener) {
  int ends[2];
  char byte;
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC) < 0) fail("make a pipe", "");
  if (unshare(CLONE_NEWPID) < 0 || (pid = fork()) < 0) fail("make a PID namespace", "");
  if (pid == 0) close(ends[0]), hold(listener, ends[1]);
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 1) _exit(1); /* it has said why */
  write_state(pid, now_nanoseconds(), "");
  say_ok(pid);
  _exit(0);
}

int hold_sandbox(const char *directory) {
  if (chdir(directory) < 0) fail("enter", directory);
  struct spec spec = read_spec("spec");
  fcntl(ALIVE_FD, F_SETFD, FD_CLOEXEC);
  setsid();
  for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
  make_namespaces(&spec);
  int listener = listen_control();
  if (is(spec.pid_mode, "pod")) hold_processes(listener);
  write_state(getpid(), now_nanoseconds(), "");
  say_ok(getpid());
  hold(listener, -1);
}
