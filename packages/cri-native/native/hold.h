/*
 * podwire-hold: what of the embedded runtime has to be a process of its own, because it must outlive the pod agent or live
 * in other namespaces than it. Mechanism only: TypeScript decides, validates every string, and writes the instruction.
 *
 *   podwire-hold sandbox DIRECTORY      holds the UTS, IPC and perhaps PID namespace of a pod
 *   podwire-hold container DIRECTORY    starts one container's program, keeps its log, sees its end
 *   podwire-hold exec FILE              runs one more program inside a container
 *
 * An instruction is a file of strings that each end with NUL: a key and its values (spec.c). The first answer is one line,
 * `ok PID STARTTIME` or `error TEXT`.
 *
 * `sandbox` and `container` are given a locked file (flock(2)) as descriptor 3 and keep it open: while it is locked one of
 * us is alive, which the runtime can find out without knowing any pid, also after it died itself.
 */
#ifndef PODWIRE_HOLD_H
#define PODWIRE_HOLD_H

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mount_request {
  const char *options, *source, *target;
};

struct strings {
  char **list; /* NULL-terminated, so that it can be an argument list */
  size_t count;
};

struct spec {
  /* namespaces */
  const char *netns, *hostname, *pid_mode, *uts_mode, *ipc_mode;
  long holder, pid_holder, init; /* processes whose namespaces are joined */
  unsigned long long holder_start, pid_holder_start, init_start;
  /* files */
  const char *root, *shm;
  int readonly_root, privileged;
  struct mount_request *mounts;
  size_t mount_count;
  struct strings masked, readonly_paths, sysctls;
  /* the program */
  struct strings argv, env;
  const char *cwd;
  uid_t uid;
  gid_t gid, *groups;
  size_t group_count;
  uint64_t capabilities;
  int no_new_privileges, tty;
  unsigned short rows, columns;
  /* its streams */
  const char *log;
  int has_stdin, stdin_once;
};

/* spec.c */
struct spec read_spec(const char *file);

/* report.c: how failures are told. `report_fd` is standard output, or the channel to the shim. */
extern int report_fd;
_Noreturn void fail(const char *what, const char *subject);
void write_whole(const char *file, const char *text, size_t length);
unsigned long long start_time(pid_t pid);
void say_ok(pid_t pid);
void write_state(pid_t pid, long long started, const char *more);
long long now_nanoseconds(void);
int write_all(int fd, const void *bytes, size_t length);

/* namespaces.c */
void join_namespaces(const struct spec *spec);
void enter_pid_namespace(const struct spec *spec);
void join_container(const struct spec *spec);

/* root.c */
void build_root(const struct spec *spec);

/* drop-access.c */
void drop_access(void);

/* process.c */
void give_up_capabilities(uint64_t keep);
struct streams {
  int in, out, error; /* the program's ends; `error` is not used with a terminal */
};
int open_terminal(const struct spec *spec, int *slave);
_Noreturn void become_program(const struct spec *spec, struct streams streams, int channel);

/* channel.c: between a shim and what is to become the program */
struct news {
  enum { NEWS_NONE, NEWS_END, NEWS_ERROR, NEWS_READY, NEWS_STATUS } kind;
  pid_t pid;    /* NEWS_READY */
  int terminal; /* NEWS_READY: its descriptor or -1 */
  int status;   /* NEWS_STATUS: as of waitpid(2) */
  char text[512];
};
void open_channel(int ends[2]);
void tell_ready(int channel, int terminal);
void tell_status(int channel, int status);
struct news hear(int channel);

/* log.c */
void open_log(const char *file);
void log_bytes(int stream, const char *bytes, size_t length);
void end_log(void);

/* control.c: the socket `control` in the directory, and who is connected */
enum { CLIENTS = 24, FRAME_BYTES = 4096 };
struct frame {
  char type;
  uint32_t length;
  const unsigned char *bytes;
};
struct client;
int listen_control(void);
void accept_client(int listener);
size_t client_count(void);
int client_fd(size_t index);
/* Reads what has come; calls `take` for each whole frame. False when the client is gone (it is closed then). */
int serve_client(size_t index, void (*take)(size_t index, struct frame frame));
void mark_attached(size_t index);
int is_attached(size_t index);
size_t attached_count(void);
void send_frame(size_t index, char type, const void *bytes, size_t length);
void send_output(char type, const void *bytes, size_t length);
void finish_clients(void);

/* modes */
enum { ALIVE_FD = 3 };
int hold_sandbox(const char *directory);
int run_container(const char *directory);
int run_exec(const char *file);
#endif
