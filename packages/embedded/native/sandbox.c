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

/* `net.ipv4.ip_unprivileged_port_start` → `/proc/sys/net/ipv4/ip_unprivileged_port_start`; TypeScript made it a path. */
static void write_sysctl(const char *name, const char *value) {
  char file[512];
  snprintf(file, sizeof file, "/proc/sys/%s", name);
  int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) fail("set", file);
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

int hold_sandbox(const char *directory) {
  if (chdir(directory) < 0) fail("enter", directory);
  struct spec spec = read_spec("spec");
  fcntl(ALIVE_FD, F_SETFD, FD_CLOEXEC);
  setsid();
  for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
  make_namespaces(&spec);
  int listener = listen_control();
  pid_t pid = getpid();
  if (is(spec.pid_mode, "pod")) {
    /* Only children get into a new PID namespace. SIGCHLD is ignored, so orphans of the pod vanish by themselves. */
    if (unshare(CLONE_NEWPID) < 0 || (pid = fork()) < 0) fail("make a PID namespace", "");
    if (pid > 0) {
      write_state(pid, now_nanoseconds(), "");
      say_ok(pid);
      _exit(0);
    }
  } else {
    write_state(pid, now_nanoseconds(), "");
    say_ok(pid);
  }
  close(STDOUT_FILENO);
  if (chdir("/") < 0) _exit(1);
  wait_for_ever(listener);
}
