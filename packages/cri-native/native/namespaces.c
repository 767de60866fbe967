/* Enters the namespaces of a pod, or of a container that runs. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * /proc/PID as a directory. It stays that process's whatever happens to the number, and answers ESRCH once it is dead;
 * so the start time is looked at after it is open.
 */
static int open_process(pid_t pid, unsigned long long start) {
  char file[32];
  snprintf(file, sizeof file, "/proc/%d", (int)pid);
  int fd = open(file, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("open process", file);
  errno = 0;
  if (start_time(pid) != start) fail("that process has ended:", file);
  return fd;
}

static int open_namespace(int process, const char *name) {
  char file[32];
  snprintf(file, sizeof file, "ns/%s", name);
  int fd = openat(process, file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("open namespace", name);
  return fd;
}

static void enter(int fd, int kind, const char *name) {
  if (setns(fd, kind) < 0) fail("enter namespace", name);
  close(fd);
}

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

/* Network, UTS and IPC namespace of the pod; what is `host` stays as it is. */
void join_namespaces(const struct spec *spec) {
  int uts = is(spec->uts_mode, "pod"), ipc = is(spec->ipc_mode, "pod");
  if (spec->netns) {
    int fd = open(spec->netns, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail("open network namespace", spec->netns);
    enter(fd, CLONE_NEWNET, spec->netns);
  }
  if (!uts && !ipc) return;
  int process = open_process((pid_t)spec->holder, spec->holder_start);
  if (uts) enter(open_namespace(process, "uts"), CLONE_NEWUTS, "uts");
  if (ipc) enter(open_namespace(process, "ipc"), CLONE_NEWIPC, "ipc");
  close(process);
}

/* The PID namespace of the children to come: an own one, that of the pod or of another container, or the host's. */
void enter_pid_namespace(const struct spec *spec) {
  if (is(spec->pid_mode, "host")) return;
  if (is(spec->pid_mode, "own")) {
    if (unshare(CLONE_NEWPID) < 0) fail("make a PID namespace", "");
    return;
  }
  int process = open_process((pid_t)spec->pid_holder, spec->pid_holder_start);
  enter(open_namespace(process, "pid"), CLONE_NEWPID, "pid");
  close(process);
}

/* All namespaces of a container's first process, the root directory with them. */
void join_container(const struct spec *spec) {
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {{"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"net", CLONE_NEWNET}, {"pid", CLONE_NEWPID}, {"mnt", CLONE_NEWNS}};
  enum { COUNT = sizeof kinds / sizeof *kinds };
  int process = open_process((pid_t)spec->init, spec->init_start), fds[COUNT];
  for (int i = 0; i < COUNT; i++) fds[i] = open_namespace(process, kinds[i].name);
  for (int i = 0; i < COUNT; i++) enter(fds[i], kinds[i].kind, kinds[i].name);
  close(process);
}
