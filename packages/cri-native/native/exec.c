/* One more program inside a container, with our own standard streams, or a terminal between. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptor 3 joins us to the runtime: `ok`, `error` go out, new sizes of the terminal come in (rows, columns). */
enum { RUNTIME_FD = 3, BYTES = 16384, DRAIN_MILLISECONDS = 200 };

static pid_t child;

/* The runtime asks us to end, or has ended: the program and its group go before us, since our end says that it is gone. */
static void end_group(int number) {
  (void)number;
  kill(-child, SIGKILL), kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  _exit(137);
}

struct relay {
  int client_in, client_out, client_error; /* towards the client */
  int in, out, error, terminal;            /* towards the program */
  int runtime, child_fd;
  size_t pending_length; /* input that the program has not taken yet: to wait for it would be to not read its output */
  char pending[BYTES];
};

/* Carries what is there from one to the other; closes both at the end. */
static void carry_output(int *from, int *to) {
  char bytes[BYTES];
  ssize_t length = read(*from, bytes, sizeof bytes);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length > 0 && write_all(*to, bytes, (size_t)length) == 0) return;
  close(*from), close(*to); /* EIO: no process has the terminal open any more */
  *from = *to = -1;
}

static void pass_input(struct relay *relay) {
  int *to = relay->terminal >= 0 ? &relay->terminal : &relay->in;
  ssize_t length = *to < 0 ? -1 : write(*to, relay->pending, relay->pending_length);
  if (length < 0 && *to >= 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (length < 0) length = (ssize_t)relay->pending_length; /* it has closed its input */
  relay->pending_length -= (size_t)length;
  memmove(relay->pending, relay->pending + length, relay->pending_length);
}

/* The end of a terminal's input is a character: its output must stay open. */
static void end_input(struct relay *relay) {
  close(relay->client_in);
  relay->client_in = -1;
  if (relay->terminal >= 0) relay->pending[0] = 4, relay->pending_length = 1, pass_input(relay);
  else if (relay->in >= 0) close(relay->in), relay->in = -1;
}

static void take_input(struct relay *relay) {
  ssize_t length = read(relay->client_in, relay->pending, sizeof relay->pending);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  relay->pending_length = length > 0 ? (size_t)length : 0;
  if (length > 0) pass_input(relay);
  else end_input(relay);
}

static void take_size(int terminal, int runtime) {
  unsigned char at[4];
  ssize_t length = read(runtime, at, sizeof at);
  if (length == 0) end_group(0); /* the runtime has died */
  if (length != 4 || terminal < 0) return;
  struct winsize size = {.ws_row = (unsigned short)(at[0] << 8 | at[1]), .ws_col = (unsigned short)(at[2] << 8 | at[3])};
  ioctl(terminal, TIOCSWINSZ, &size);
}

enum { FROM_CLIENT, FROM_OUT, FROM_ERROR, FROM_RUNTIME, FROM_CHILD, TO_INPUT, SOURCES };

static int relay_once(struct relay *relay, int milliseconds) {
  int tty = relay->terminal >= 0, input = tty ? relay->terminal : relay->in;
  struct pollfd fds[SOURCES] = {
      {.fd = input >= 0 && !relay->pending_length ? relay->client_in : -1, .events = POLLIN},
      {.fd = tty ? relay->terminal : relay->out, .events = POLLIN},
      {.fd = relay->error, .events = POLLIN},
      {.fd = relay->runtime, .events = POLLIN},
      {.fd = relay->child_fd, .events = POLLIN},
      {.fd = relay->pending_length ? input : -1, .events = POLLOUT},
  };
  if (poll(fds, SOURCES, milliseconds) <= 0) return 0;
  if (fds[FROM_OUT].revents) carry_output(tty ? &relay->terminal : &relay->out, &relay->client_out);
  if (fds[FROM_ERROR].revents) carry_output(&relay->error, &relay->client_error);
  if (fds[FROM_RUNTIME].revents) take_size(relay->terminal, relay->runtime);
  if (fds[TO_INPUT].revents) pass_input(relay);
  if (fds[FROM_CLIENT].revents) take_input(relay);
  if (fds[FROM_CHILD].revents) relay->child_fd = -1;
  return 1;
}

static void set_up_pipe(int *reading, int *writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) fail("make a pipe", "");
  *reading = ends[0], *writing = ends[1];
}

/* Pipes of our own even without a terminal: ours are sockets, which a program cannot open again as /dev/stdout. */
static pid_t start_program(const struct spec *spec, struct relay *relay, int channel[2]) {
  struct streams theirs = {-1, -1, -1};
  if (!spec->tty) {
    if (spec->has_stdin) set_up_pipe(&theirs.in, &relay->in);
    set_up_pipe(&relay->out, &theirs.out);
    set_up_pipe(&relay->error, &theirs.error);
  }
  open_channel(channel);
  join_container(spec);
  pid_t pid = fork();
  if (pid < 0) fail("fork", "");
  if (pid == 0) {
    report_fd = channel[1];
    become_program(spec, theirs, channel[1]);
  }
  close(channel[1]);
  if (theirs.in >= 0) close(theirs.in);
  if (theirs.out >= 0) close(theirs.out), close(theirs.error);
  return pid;
}

static void await_start(struct relay *relay, int channel) {
  struct news news = hear(channel);
  if (news.kind == NEWS_READY) relay->terminal = news.terminal, news = hear(channel);
  if (news.kind == NEWS_ERROR) write_all(RUNTIME_FD, news.text, strlen(news.text)), _exit(126);
  close(channel);
  /* Not to be waited for: see `pending`. */
  int input = relay->terminal >= 0 ? relay->terminal : relay->in;
  if (input >= 0) fcntl(input, F_SETFL, fcntl(input, F_GETFL) | O_NONBLOCK);
  write_all(RUNTIME_FD, "ok\n", 3);
}

int run_exec(const char *file) {
  static struct relay relay = {.client_in = 0, .client_out = 1, .client_error = 2, .in = -1, .out = -1, .error = -1, .terminal = -1,
                               .runtime = RUNTIME_FD};
  int channel[2], status;
  report_fd = RUNTIME_FD;
  fcntl(RUNTIME_FD, F_SETFD, FD_CLOEXEC);
  struct spec spec = read_spec(file);
  unlink(file);
  setsid();
  signal(SIGPIPE, SIG_IGN);
  child = start_program(&spec, &relay, channel);
  signal(SIGTERM, end_group);
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  await_start(&relay, channel[0]);
  relay.child_fd = (int)syscall(SYS_pidfd_open, child, 0);
  while (relay.child_fd >= 0) relay_once(&relay, -1);
  /* Its last output is still on its way; others that it has left behind may hold the streams for ever. */
  while ((relay.out >= 0 || relay.error >= 0 || relay.terminal >= 0) && relay_once(&relay, DRAIN_MILLISECONDS)) continue;
  if (waitpid(child, &status, 0) != child) return 255;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
