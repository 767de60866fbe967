/*
 * The shim of one container: starts its program, writes its log, serves who attaches, and writes down how it ended. It
 * needs no other process: the pod agent may die and come back meanwhile.
 */
#include "hold.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUT_BYTES = 65536, OUTPUT_BYTES = 16384, DRAIN_MILLISECONDS = 1000, PART_MILLISECONDS = 1000 };

static struct {
  struct spec spec;
  pid_t child;   /* ours: the program, or the minder above it */
  pid_t program; /* the program itself, as we see it */
  int channel; /* says that the program has started, or why not; it closes when the program runs */
  int minder;  /* says how the program ended, where a minder stands between; -1 without */
  int child_fd, listener;
  int in, out, error, terminal; /* our ends of its streams, -1 when closed */
  int has_status, status, ended;
  long long started;
  size_t input_length;
  char input[INPUT_BYTES];
  int input_ends;
} shim;

/* Where the PID namespace is not the container's alone, its end does not end the others: they have to be searched for. */
static int has_minder(void) { return strcmp(shim.spec.pid_mode, "own") != 0; }

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void make_pipe(int *reading, int *writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) fail("make a pipe", "");
  *reading = ends[0], *writing = ends[1];
}

/* ---- the start -------------------------------------------------------------------------------------------------- */

static _Noreturn void prepare_and_become(struct streams streams, int channel) {
  build_root(&shim.spec);
  become_program(&shim.spec, streams, channel);
}

/* Not before the minder has nothing left that the program could take from it. */
static void await_minder(int go) {
  char byte;
  if (read(go, &byte, 1) != 1) _exit(1);
  close_fd(&go);
}

/*
 * Stands between the shim and the program in a shared PID namespace. Processes that lose their parent come to it, not to
 * the namespace's first process; so the shim finds them all below it.
 */
static _Noreturn void mind(struct streams streams, int channel, int shim_fd) {
  int status, go, ready;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  signal(SIGCHLD, SIG_DFL);
  make_pipe(&go, &ready);
  pid_t program = fork();
  if (program < 0) fail("fork", "");
  if (program == 0) {
    close_fd(&ready);
    await_minder(go);
    prepare_and_become(streams, channel);
  }
  drop_access();
  write_all(ready, "", 1);
  /* The program can look at us if it may trace processes: nothing of the shim's is left in here but the way to it. */
  if (dup2(shim_fd, ALIVE_FD + 1) < 0) fail("keep the way to the shim", "");
  shim_fd = ALIVE_FD + 1;
  close(STDIN_FILENO), close(STDOUT_FILENO), close(STDERR_FILENO);
  syscall(SYS_close_range, ALIVE_FD + 2, ~0U, 0);
  for (pid_t pid; (pid = wait(&status)) > 0 || errno == EINTR;)
    if (pid == program) tell_status(shim_fd, status);
  _exit(0);
}

static void fork_program(void) {
  struct streams theirs = {-1, -1, -1};
  int channel[2], minder[2] = {-1, -1};
  shim.in = shim.out = shim.error = shim.terminal = -1;
  if (!shim.spec.tty) {
    if (shim.spec.has_stdin) make_pipe(&theirs.in, &shim.in);
    make_pipe(&shim.out, &theirs.out);
    make_pipe(&shim.error, &theirs.error);
  }
  open_channel(channel);
  if (has_minder()) open_channel(minder);
  join_namespaces(&shim.spec);
  enter_pid_namespace(&shim.spec);
  shim.child = fork();
  if (shim.child < 0) fail("fork", "");
  if (shim.child == 0) {
    report_fd = channel[1];
    if (has_minder()) mind(theirs, channel[1], minder[1]);
    prepare_and_become(theirs, channel[1]);
  }
  close_fd(&channel[1]), close_fd(&minder[1]), close_fd(&theirs.in), close_fd(&theirs.out), close_fd(&theirs.error);
  shim.channel = channel[0], shim.minder = minder[0];
}

static _Noreturn void fail_start(const char *text) {
  char more[700];
  snprintf(more, sizeof more, "exit 128\nfinished %lld\nerror %.*s\n", now_nanoseconds(), (int)strcspn(text, "\n"), text);
  kill(shim.child, SIGKILL);
  write_state(0, 0, more);
  write_all(STDOUT_FILENO, "error ", 6), write_all(STDOUT_FILENO, text, strlen(text));
  _exit(1);
}

/* "Ready" comes before exec(2), which may still fail; only then does the channel close. */
static void await_start(void) {
  struct news news = hear(shim.channel);
  if (news.kind == NEWS_END) fail_start("the container's first process ended before its program was started");
  if (news.kind == NEWS_READY) {
    shim.program = news.pid, shim.terminal = news.terminal, shim.started = now_nanoseconds();
    news = hear(shim.channel);
  }
  if (news.kind == NEWS_ERROR) fail_start(news.text + strlen("error "));
  close_fd(&shim.channel);
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static void set_nonblocking(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int *input_fd(void) { return shim.spec.tty ? &shim.terminal : &shim.in; }

/* Reads once and passes it on. False when there is nothing (more). */
static int carry_output(int *fd, int stream) {
  char bytes[OUTPUT_BYTES];
  ssize_t length = read(*fd, bytes, FRAME_BYTES);
  if (length < 0 && errno == EAGAIN) return 0;
  if (length < 0 && errno == EINTR) return 1;
  if (length <= 0) { /* EIO: no process has the terminal open any more */
    close_fd(fd);
    return 0;
  }
  log_bytes(stream, bytes, (size_t)length);
  send_output(stream ? 'e' : 'o', bytes, (size_t)length);
  return 1;
}

static void carry_input(void) {
  int *fd = input_fd();
  if (*fd < 0) shim.input_length = 0;
  if (shim.input_length > 0) {
    ssize_t length = write(*fd, shim.input, shim.input_length);
    if (length < 0 && errno != EAGAIN && errno != EINTR) shim.input_length = 0; /* it has closed its input */
    if (length > 0) memmove(shim.input, shim.input + length, shim.input_length -= (size_t)length);
  }
  if (shim.input_ends && shim.input_length == 0 && !shim.spec.tty) close_fd(&shim.in);
}

/* A terminal's end of input is a character; a pipe's is its closing. */
static void end_input(void) {
  if (shim.spec.tty) {
    if (shim.input_length < INPUT_BYTES) shim.input[shim.input_length++] = 4;
  } else {
    shim.input_ends = 1;
  }
  carry_input();
}

static void take_input(struct frame frame) {
  if (!shim.spec.has_stdin || shim.input_length + frame.length > INPUT_BYTES) return;
  memcpy(shim.input + shim.input_length, frame.bytes, frame.length);
  shim.input_length += frame.length;
  carry_input();
}

/* ---- clients ---------------------------------------------------------------------------------------------------- */

static void answer(size_t client, int error) {
  unsigned char code = (unsigned char)error;
  send_frame(client, 'a', &code, 1);
}

/* The pid is certain: it names our child, or that of our minder, and not waited for yet. */
static int send_signal(int number) {
  if (shim.ended || shim.has_status) return ESRCH;
  return kill(shim.program, number) < 0 ? errno : 0;
}

static void resize(struct frame frame) {
  if (frame.length != 4 || shim.terminal < 0) return;
  const unsigned char *at = frame.bytes;
  struct winsize size = {.ws_row = (unsigned short)(at[0] << 8 | at[1]), .ws_col = (unsigned short)(at[2] << 8 | at[3])};
  ioctl(shim.terminal, TIOCSWINSZ, &size);
}

static int reopen_log(void) {
  if (!shim.spec.log) return 0;
  int fd = open(shim.spec.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd < 0) return errno;
  close(fd);
  open_log(shim.spec.log);
  return 0;
}

static void take_frame(size_t client, struct frame frame) {
  switch (frame.type) {
    case 'A': mark_attached(client), answer(client, 0); break;
    case 'I': take_input(frame); break;
    case 'E': end_input(); break;
    case 'R': resize(frame); break;
    case 'K': answer(client, frame.length == 1 ? send_signal(frame.bytes[0]) : EINVAL); break;
    case 'L': answer(client, reopen_log()); break;
    default: break; /* one that only watches says nothing */
  }
}

/* Then no input is taken until the program has read; other frames of such a client wait too. */
static int is_full(void) { return shim.input_length + FRAME_BYTES > INPUT_BYTES; }

static void serve(size_t client) {
  if (is_full() && is_attached(client)) return;
  int was_attached = is_attached(client);
  if (!serve_client(client, take_frame) && was_attached && shim.spec.stdin_once && attached_count() == 0) end_input();
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Kills every child of the minder; theirs come to it in turn, so that a few rounds get them all. */
static void kill_leftovers(void) {
  char file[64], text[4096];
  snprintf(file, sizeof file, "/proc/%d/task/%d/children", (int)shim.child, (int)shim.child);
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (length < 0) return;
  text[length] = 0;
  /* A number that the buffer's end cuts would be another process's. */
  char *blank = strrchr(text, ' ');
  if (!blank) return;
  *blank = 0;
  char *at = text, *end;
  for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end) kill((pid_t)pid, SIGKILL);
}

static void reap(void) {
  int status;
  if (waitpid(shim.child, &status, WNOHANG) != shim.child) return;
  shim.ended = 1;
  if (!has_minder() || !shim.has_status) shim.status = status;
}

static void hear_minder(void) {
  struct news news = hear(shim.minder);
  if (news.kind == NEWS_STATUS) shim.has_status = 1, shim.status = news.status;
  if (news.kind == NEWS_END) close_fd(&shim.minder);
}

static void drain(void) {
  long long deadline = now_nanoseconds() + DRAIN_MILLISECONDS * 1000000LL;
  int *fds[2] = {shim.spec.tty ? &shim.terminal : &shim.out, &shim.error};
  while ((*fds[0] >= 0 || *fds[1] >= 0) && now_nanoseconds() < deadline) {
    struct pollfd wait[2] = {{.fd = *fds[0], .events = POLLIN}, {.fd = *fds[1], .events = POLLIN}};
    if (poll(wait, 2, 50) <= 0 && shim.spec.tty) break;
    for (int i = 0; i < 2; i++)
      if (*fds[i] >= 0 && wait[i].revents) carry_output(fds[i], i);
  }
  end_log();
}

static void write_end(void) {
  char more[128];
  int code = WIFSIGNALED(shim.status) ? 128 + WTERMSIG(shim.status) : WEXITSTATUS(shim.status);
  int number = WIFSIGNALED(shim.status) ? WTERMSIG(shim.status) : 0;
  snprintf(more, sizeof more, "exit %d\nsignal %d\nfinished %lld\n", code, number, now_nanoseconds());
  write_state(shim.program, shim.started, more);
}

static void ignore_frame(size_t client, struct frame frame) { (void)client, (void)frame; }

/*
 * An attached client may be sending just now. If it met a closed socket (EPIPE), its side would throw away the output
 * that it has not read yet. So it is told that no more comes, and what it sends is taken until it has gone.
 */
static void part_from_clients(void) {
  long long deadline = now_nanoseconds() + PART_MILLISECONDS * 1000000LL;
  finish_clients();
  while (client_count() > 0 && now_nanoseconds() < deadline) {
    struct pollfd fds[CLIENTS];
    size_t clients = client_count();
    for (size_t i = 0; i < clients; i++) fds[i] = (struct pollfd){.fd = client_fd(i), .events = POLLIN};
    if (poll(fds, clients, 50) <= 0) continue;
    for (size_t i = clients; i-- > 0;)
      if (fds[i].revents) serve_client(i, ignore_frame);
  }
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

enum { AT_CHILD, AT_MINDER, AT_LISTENER, AT_OUT, AT_ERROR, AT_IN, AT_CLIENTS };

static size_t list_descriptors(struct pollfd *fds) {
  fds[AT_CHILD] = (struct pollfd){.fd = shim.child_fd, .events = POLLIN};
  fds[AT_MINDER] = (struct pollfd){.fd = shim.minder, .events = POLLIN};
  fds[AT_LISTENER] = (struct pollfd){.fd = shim.listener, .events = POLLIN};
  fds[AT_OUT] = (struct pollfd){.fd = shim.spec.tty ? shim.terminal : shim.out, .events = POLLIN};
  fds[AT_ERROR] = (struct pollfd){.fd = shim.error, .events = POLLIN};
  fds[AT_IN] = (struct pollfd){.fd = shim.input_length ? *input_fd() : -1, .events = POLLOUT};
  for (size_t i = 0; i < client_count(); i++)
    fds[AT_CLIENTS + i] = (struct pollfd){.fd = is_full() && is_attached(i) ? -1 : client_fd(i), .events = POLLIN};
  return AT_CLIENTS + client_count();
}

static void serve_once(void) {
  struct pollfd fds[AT_CLIENTS + CLIENTS];
  size_t clients = client_count();
  int patience = shim.has_status ? 5 : -1; /* milliseconds between two rounds of killing what is left */
  if (poll(fds, list_descriptors(fds), patience) < 0) return;
  if (fds[AT_OUT].revents) carry_output(shim.spec.tty ? &shim.terminal : &shim.out, 0);
  if (fds[AT_ERROR].revents) carry_output(&shim.error, 1);
  if (fds[AT_IN].revents) carry_input();
  for (size_t i = clients; i-- > 0;)
    if (fds[AT_CLIENTS + i].revents) serve(i);
  if (fds[AT_LISTENER].revents) accept_client(shim.listener);
  if (fds[AT_MINDER].revents) hear_minder();
  if (shim.has_status) kill_leftovers();
  if (fds[AT_CHILD].revents) reap();
}

int run_container(const char *directory) {
  if (chdir(directory) < 0) fail("enter", directory);
  shim.spec = read_spec("spec");
  if (shim.spec.argv.count == 0) fail("the instruction has no program", "");
  fcntl(ALIVE_FD, F_SETFD, FD_CLOEXEC);
  setsid();
  for (int number = 1; number < NSIG; number++)
    if (number != SIGCHLD) signal(number, SIG_IGN);
  if (shim.spec.log) open_log(shim.spec.log);
  shim.listener = listen_control();
  fork_program();
  await_start();
  shim.child_fd = (int)syscall(SYS_pidfd_open, shim.child, 0);
  if (shim.child_fd < 0) fail("watch the program", "");
  set_nonblocking(shim.in), set_nonblocking(shim.out), set_nonblocking(shim.error), set_nonblocking(shim.terminal);
  write_state(shim.program, shim.started, "");
  say_ok(shim.program);
  close(STDOUT_FILENO);
  while (!shim.ended) serve_once();
  drain();
  write_end();
  part_from_clients();
  return 0;
}
