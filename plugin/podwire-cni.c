/*
 * podwire-cni: the executable that container runtimes start for every CNI call. It carries the call to the Podwire
 * agent over a unix socket and the answer back, and decides nothing. docs/decisions/0002-plugin-protocol.md describes
 * the bytes; podwire-cni.ts is the same program for machines without a C compiler, and one suite tests both.
 *
 * No stdio, no malloc: what is not linked need not be loaded, and this program is started for every call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef PODWIRE_VERSION
#error "compile with -DPODWIRE_VERSION=\"x.y.z\""
#endif
#ifndef DEFAULT_SOCKET
#define DEFAULT_SOCKET "/run/podwire/cni.sock"
#endif

/* One byte more than the agent accepts, so that it sees (and says) that the limit is exceeded. */
#define INPUT_LIMIT (1024 * 1024 + 1)
#define CONNECT_SECONDS 1
#define RETRY_NANOSECONDS 10000000L
#define COPY_BYTES 65536

/* CNI specification 1.1.0, "Error" (well-known codes) and "STATUS" (50). */
enum { CODE_IO = 5, CODE_CONFIG = 7, CODE_TRY_LATER = 11, CODE_NOT_AVAILABLE = 50 };

#define LITERAL(text) ((struct slice){text, sizeof(text) - 1})
struct slice {
  const char *start;
  size_t length;
};

/* The strings of the configuration that the plugin needs, as they stand there: still escaped, without the quotes. */
struct config {
  struct slice socket;
  struct slice version;
};

struct request {
  char *bytes;
  size_t length;
  struct config config;
};

/* ---- bytes in and out ------------------------------------------------------------------------------------------- */

/* True when the call is worth repeating. A descriptor that the caller made non-blocking is waited for. */
static int may_repeat(int fd, short events) {
  if (errno == EINTR) return 1;
  if (errno != EAGAIN) return 0;
  struct pollfd wait = {.fd = fd, .events = events};
  return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

static ssize_t read_some(int fd, char *into, size_t room) {
  ssize_t count;
  do count = read(fd, into, room);
  while (count < 0 && may_repeat(fd, POLLIN));
  return count;
}

static int write_all(int fd, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = write(fd, bytes, length);
    if (count >= 0) bytes += count, length -= (size_t)count;
    else if (!may_repeat(fd, POLLOUT)) return -1;
  }
  return 0;
}

static int write_text(int fd, const char *text) { return write_all(fd, text, strlen(text)); }

/* ---- the two strings of the configuration ----------------------------------------------------------------------- */

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/* The code unit of the four digits at `at`, or -1. */
static long hex_unit(const char *at, const char *end) {
  if (end - at < 4) return -1;
  long unit = 0;
  for (int i = 0; i < 4; i++) {
    if (hex_value(at[i]) < 0) return -1;
    unit = unit * 16 + hex_value(at[i]);
  }
  return unit;
}

/*
 * The closing quote of the string whose text begins at `at`, NULL if it is no JSON string (RFC 8259 §7). Only strings
 * that pass are ever copied into an error object, so that one stays well-formed whatever the input was.
 */
static const char *end_of_string(const char *at, const char *end) {
  for (; at < end; at++) {
    if (*at == '"') return at;
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at != '\\') continue;
    if (++at == end || !memchr("\"\\/bfnrtu", *at, 9)) return NULL;
    if (*at == 'u' && hex_unit(at + 1, end) < 0) return NULL;
  }
  return NULL;
}

static size_t utf8(long point, char *out) {
  if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd; /* half a surrogate pair */
  if (point < 0x80) return out[0] = (char)point, 1;
  if (point < 0x800) return out[0] = (char)(0xc0 | point >> 6), out[1] = (char)(0x80 | (point & 63)), 2;
  size_t lead = point < 0x10000 ? 0 : 1;
  if (lead) out[0] = (char)(0xf0 | point >> 18);
  out[lead] = (char)(lead ? 0x80 | (point >> 12 & 63) : 0xe0 | point >> 12);
  out[lead + 1] = (char)(0x80 | (point >> 6 & 63));
  out[lead + 2] = (char)(0x80 | (point & 63));
  return lead + 3;
}

/* Reads the escape after a backslash into `out` (at most 4 bytes, `size` says how many); returns what follows it. */
static const char *unescape(const char *at, const char *end, char *out, size_t *size) {
  static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
  const char *name = memchr(names, *at, 5);
  if (*at != 'u') return *out = name ? values[name - names] : *at, *size = 1, at + 1;
  long point = hex_unit(at + 1, end);
  at += 5;
  if (point >= 0xd800 && point < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    long low = hex_unit(at + 2, end);
    if (low >= 0xdc00 && low < 0xe000) point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00), at += 6;
  }
  return *size = utf8(point, out), at;
}

/* Writes the text of a string that end_of_string() accepted; returns its length, or `room` when it does not fit. */
static size_t decode(struct slice text, char *into, size_t room) {
  const char *at = text.start, *end = text.start + text.length;
  size_t length = 0;
  while (at < end) {
    char character[4];
    size_t size = 1;
    if (*at == '\\') at = unescape(at + 1, end, character, &size);
    else character[0] = *at++;
    if (length + size >= room) return room;
    memcpy(into + length, character, size);
    length += size;
  }
  return length;
}

static int is_key(struct slice key, const char *name) {
  char text[16];
  size_t length = decode(key, text, sizeof text);
  return length == strlen(name) && memcmp(text, name, length) == 0;
}

/* The string value at `at`, or nothing when another kind of value stands there. */
static struct slice string_at(const char *at, const char *end) {
  at = skip_space(at, end);
  const char *close = at < end && *at == '"' ? end_of_string(at + 1, end) : NULL;
  return close ? (struct slice){at + 1, (size_t)(close - at - 1)} : (struct slice){NULL, 0};
}

/* Keeps the value at `value` if the key is one that is looked for. The last of several equal keys counts. */
static void take_member(struct slice key, const char *value, const char *end, struct config *config) {
  if (is_key(key, "socket")) config->socket = string_at(value, end);
  if (is_key(key, "cniVersion")) config->version = string_at(value, end);
}

/*
 * Finds the strings among the keys of the outermost object. Depth and strings are all that is followed; a document
 * that is not well-formed is the agent's to refuse, the scan just ends where it cannot go on.
 */
static void scan_config(const char *at, const char *end, struct config *config) {
  size_t depth = 0;
  at = skip_space(at, end);
  if (at == end || *at != '{') return;
  for (; at < end; at++) {
    if (*at == '{' || *at == '[') depth++;
    if ((*at == '}' || *at == ']') && --depth == 0) return;
    if (*at != '"') continue;
    const char *start = at + 1;
    at = end_of_string(start, end);
    if (!at) return;
    const char *after = skip_space(at + 1, end);
    if (depth == 1 && after < end && *after == ':')
      take_member((struct slice){start, (size_t)(at - start)}, after + 1, end, config);
  }
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static int is_carried(const char *pair) {
  static const char *const prefixes[] = {"CNI_", "TRACEPARENT=", "TRACESTATE=", "BAGGAGE="};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(pair, prefixes[i], strlen(prefixes[i])) == 0) return strchr(pair, '=') != NULL;
  return 0;
}

static size_t environment_length(void) {
  size_t length = 0;
  for (char **pair = environ; *pair; pair++)
    if (is_carried(*pair)) length += strlen(*pair) + 1;
  return length;
}

static char *append_environment(char *at) {
  for (char **pair = environ; *pair; pair++)
    if (is_carried(*pair)) at = stpcpy(at, *pair) + 1;
  return at;
}

static ssize_t read_input(char *into) {
  size_t length = 0;
  while (length < INPUT_LIMIT) {
    ssize_t count = read_some(STDIN_FILENO, into + length, INPUT_LIMIT - length);
    if (count < 0) return -1;
    if (count == 0) break;
    length += (size_t)count;
  }
  return (ssize_t)length;
}

/* Builds the whole request in one piece. The memory is reserved for the largest one; the kernel gives only what is used. */
static int build_request(struct request *request) {
  static const char magic[] = "PW1";
  size_t room = sizeof magic + environment_length() + 1 + INPUT_LIMIT;
  request->bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (request->bytes == MAP_FAILED) return -1;
  memcpy(request->bytes, magic, sizeof magic);
  char *input = append_environment(request->bytes + sizeof magic) + 1;
  ssize_t length = read_input(input);
  if (length < 0) return -1;
  request->length = (size_t)(input - request->bytes) + (size_t)length;
  scan_config(input, input + length, &request->config);
  return 0;
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

static const char *error_name(int error) {
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

static const char *code_text(int code) {
  switch (code) {
    case CODE_IO: return "5";
    case CODE_CONFIG: return "7";
    case CODE_NOT_AVAILABLE: return "50";
    default: return "11";
  }
}

static void write_slice(struct slice text) { write_all(STDOUT_FILENO, text.start, text.length); }

/* Prints a CNI error object (`subject` is JSON text already) and returns the exit code. */
static int fail(const struct config *config, int code, const char *message, struct slice subject, const char *reason) {
  write_text(STDOUT_FILENO, "{\"cniVersion\":\"");
  /* Without the key the specification means 0.1.0, the version before it existed. */
  write_slice(config->version.start ? config->version : LITERAL("0.1.0"));
  write_text(STDOUT_FILENO, "\",\"code\":");
  write_text(STDOUT_FILENO, code_text(code));
  write_text(STDOUT_FILENO, ",\"msg\":\"");
  write_text(STDOUT_FILENO, message);
  write_text(STDOUT_FILENO, "\",\"details\":\"");
  write_slice(subject);
  write_text(STDOUT_FILENO, ": ");
  write_text(STDOUT_FILENO, reason);
  write_text(STDOUT_FILENO, "\"}\n");
  return 1;
}

/* STATUS has a code of its own for a plugin that cannot serve ADD now; for every other call it is "try again later". */
static int fail_unreachable(const struct config *config, const char *message, const char *reason) {
  const char *command = getenv("CNI_COMMAND");
  int code = command && strcmp(command, "STATUS") == 0 ? CODE_NOT_AVAILABLE : CODE_TRY_LATER;
  return fail(config, code, message, config->socket, reason);
}

/* ---- the conversation ------------------------------------------------------------------------------------------- */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Connects, and retries for a second while no agent listens: it may be restarting. Where it listens and its queue is
 * full, connect() itself waits for a place; that is waiting for the answer, and only the caller knows how long to.
 */
static int connect_agent(int fd, const struct sockaddr_un *address) {
  static const struct timespec pause = {0, RETRY_NANOSECONDS};
  double deadline = seconds_now() + CONNECT_SECONDS;
  while (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
    int absent = errno == ENOENT || errno == ECONNREFUSED;
    if (!absent && errno != EINTR && errno != EAGAIN) return -1;
    if (absent && seconds_now() > deadline) return -1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

/* Copies the answer to standard output. The exit code, or -1 when not even the status byte came. */
static int carry_answer(int fd, int *broke) {
  static char buffer[COPY_BYTES];
  ssize_t count = read_some(fd, buffer, sizeof buffer);
  if (count <= 0) return -1;
  if (buffer[0] != '0' && buffer[0] != '1') return errno = EPROTO, -1;
  int status = buffer[0] - '0';
  size_t skip = 1;
  for (; count > 0; count = read_some(fd, buffer, sizeof buffer), skip = 0)
    if (write_all(STDOUT_FILENO, buffer + skip, (size_t)count - skip) < 0)
      return write_text(STDERR_FILENO, "podwire-cni: standard output: cannot be written\n"), 1;
  *broke |= count < 0;
  return status;
}

static int converse(int fd, const struct request *request) {
  /* The agent may answer and close before it has read everything (a request that is too large): its answer counts. */
  int broke = write_all(fd, request->bytes, request->length) < 0;
  if (!broke) shutdown(fd, SHUT_WR);
  errno = 0;
  int status = carry_answer(fd, &broke);
  if (status == 0 && broke) return write_text(STDERR_FILENO, "podwire-cni: the connection broke within the answer\n"), 1;
  if (status >= 0) return status;
  if (errno == EPROTO)
    return fail_unreachable(&request->config, "the answer is not that of a Podwire agent", "unknown status byte");
  return fail_unreachable(&request->config, "the Podwire agent closed the connection without an answer",
                          "the call may have been carried out or not");
}

static int carry(void) {
  struct request request = {0};
  if (build_request(&request) < 0)
    return fail(&request.config, CODE_IO, "the request cannot be read", LITERAL("standard input"), error_name(errno));
  if (request.config.socket.length == 0) request.config.socket = LITERAL(DEFAULT_SOCKET);

  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = decode(request.config.socket, address.sun_path, sizeof address.sun_path);
  if (length >= sizeof address.sun_path || memchr(address.sun_path, 0, length))
    return fail(&request.config, CODE_CONFIG, "the network configuration has a `socket` that cannot be used",
                request.config.socket, "a path of at most 107 bytes is needed");

  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect_agent(fd, &address) < 0)
    return fail_unreachable(&request.config, "the Podwire agent cannot be reached", error_name(errno));
  return converse(fd, &request);
}

#define QUOTED_VERSIONS "\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\""
#define PLAIN_VERSIONS "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0"

static int print_about(void) {
  write_text(STDERR_FILENO, "Podwire CNI plugin " PODWIRE_VERSION "\nCNI protocol versions supported: " PLAIN_VERSIONS "\n");
  return 0;
}

static int print_versions(void) {
  static const char answer[] = "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[" QUOTED_VERSIONS "]}\n";
  return write_text(STDOUT_FILENO, answer) < 0;
}

int main(void) {
  const char *command = getenv("CNI_COMMAND");
  if (!command || !*command) return print_about();
  signal(SIGPIPE, SIG_IGN);
  if (strcmp(command, "VERSION") == 0) return print_versions();
  return carry();
}
