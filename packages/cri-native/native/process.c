/* Steps by which a process becomes the program of a container. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* capset(2) in its version 3: two words of each set. */
#define CAPABILITY_VERSION_3 0x20080522
struct capability_header {
  uint32_t version;
  int pid;
};
struct capability_word {
  uint32_t effective, permitted, inheritable;
};

static void drop_bounding_set(uint64_t keep) {
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0 && capability < 64; capability++)
    if (!(keep >> capability & 1) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) fail("drop a capability", "");
}

/* Never more than there is now: in a container, or on a machine that withholds some, not all can be had. */
static void keep_capabilities(uint64_t keep) {
  struct capability_header header = {.version = CAPABILITY_VERSION_3};
  struct capability_word words[2];
  if (syscall(SYS_capget, &header, words) < 0) fail("read capabilities", "");
  for (int i = 0; i < 2; i++) {
    words[i].permitted &= (uint32_t)(keep >> 32 * i);
    words[i].effective = words[i].permitted;
    words[i].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, words) < 0) fail("set capabilities", "");
}

void give_up_capabilities(uint64_t keep) {
  drop_bounding_set(keep);
  keep_capabilities(keep);
}

static void become_user(const struct spec *spec) {
  if (setgroups(spec->group_count, spec->groups) < 0) fail("set supplementary groups", "");
  drop_bounding_set(spec->capabilities);
  if (setresgid(spec->gid, spec->gid, spec->gid) < 0) fail("set group", "");
  if (setresuid(spec->uid, spec->uid, spec->uid) < 0) fail("set user", "");
  keep_capabilities(spec->capabilities); /* of another user than root the kernel has taken them already */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* which a change of user may have set */
  if (spec->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("set no_new_privs", "");
}

/* Opens the container's own pseudo terminal, so that its name is the right one inside. Returns the master. */
int open_terminal(const struct spec *spec, int *slave) {
  char name[32];
  int number, unlock = 0;
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCGPTN, &number) < 0)
    fail("open a terminal", "/dev/ptmx");
  snprintf(name, sizeof name, "/dev/pts/%d", number);
  *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*slave < 0) fail("open a terminal", name);
  struct winsize size = {.ws_row = spec->rows, .ws_col = spec->columns};
  if (spec->rows) ioctl(*slave, TIOCSWINSZ, &size);
  return master;
}

/* Programs that open /dev/stdout anew need to own it. */
static void give_streams(const struct spec *spec, struct streams streams) {
  int fds[] = {streams.in, streams.out, streams.error};
  for (int i = 0; i < 3; i++) {
    struct stat info;
    if (fds[i] < 0 || fstat(fds[i], &info) < 0) continue;
    if (S_ISFIFO(info.st_mode) || isatty(fds[i])) (void)!fchown(fds[i], spec->uid, (gid_t)-1);
  }
}

static void take_streams(struct streams streams) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (dup2(streams.in >= 0 ? streams.in : nothing, 0) < 0) fail("standard input", "");
  if (dup2(streams.out >= 0 ? streams.out : nothing, 1) < 0) fail("standard output", "");
  if (dup2(streams.error >= 0 ? streams.error : nothing, 2) < 0) fail("standard error", "");
}

static void reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * All descriptors are numbered above 2 here and close on exec: those that become 0, 1 and 2 are copies. The channel closes
 * by itself when the program starts, and says why when it does not.
 */
void become_program(const struct spec *spec, struct streams streams, int channel) {
  int terminal = -1;
  if (setsid() < 0 && errno != EPERM) fail("make a session", "");
  if (spec->tty) {
    terminal = open_terminal(spec, &streams.in);
    streams.out = streams.error = streams.in;
    if (ioctl(streams.in, TIOCSCTTY, 0) < 0) fail("take the terminal", "");
  }
  give_streams(spec, streams);
  become_user(spec);
  /* After the change of user, which clears it. The shim's death must be ours: no process could see our end any more. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) fail("set the death signal", "");
  if (chdir(spec->cwd) < 0) fail("working directory", spec->cwd);
  umask(022);
  tell_ready(channel, terminal);
  take_streams(streams);
  reset_signals();
  if (clearenv() != 0) fail("clear the environment", "");
  for (size_t i = 0; i < spec->env.count; i++) putenv(spec->env.list[i]);
  errno = 0;
  execvp(spec->argv.list[0], spec->argv.list);
  fail("start", spec->argv.list[0]);
}
