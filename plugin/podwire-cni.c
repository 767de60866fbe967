/*
 * podwire-cni: the executable that container runtimes start for every CNI call. It carries the call to the Podwire
 * agent over a unix socket and the answer back, and decides nothing. docs/decisions/0002-plugin-protocol.md describes
 * the bytes; podwire-cni.ts is the same program for machines without a C compiler, and one suite tests both.
 *
 * No stdio, no malloc: what is not linked need not be loaded, and this program is started for every call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json.h"
#include "streams.h"

#if !defined PODWIRE_VERSION || !defined DEFAULT_SOCKET
#error "build.ts compiles this, and names the version and the socket"
#endif

/* One byte more than the agent accepts, so that it sees (and says) that the limit is exceeded. */
#define INPUT_LIMIT (1024 * 1024 + 1)
#define CONNECT_SECONDS 1
#define COPY_BYTES 65536

/* CNI specification 1.1.0, "Error" (well-known codes) and "STATUS" (50). */
enum { CODE_IO = 5, CODE_CONFIG = 7, CODE_TRY_LATER = 11, CODE_NOT_AVAILABLE = 50 };

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

/* ---- the two strings of the configuration ----------------------------------------------------------------------- */

/* The string value at `at`, or nothing when another kind of value stands there. */
static struct slice string_at(const char *at, const char *end) {
  at = skip_space(at, end);
  const char *close = at < end && *at == '"' ? end_of_string(at + 1, end) : NULL;
  return close ? (struct slice){at + 1, (size_t)(close - at - 1)} : (struct slice){NULL, 0};
}

/* Keeps the value at `value` if the key is one that is looked for. The last of several equal keys counts. */
static void take_member(struct slice key, const char *value, const char *end, struct config *config) {
  if (is_text(key, "socket")) config->socket = string_at(value, end);
  if (is_text(key, "cniVersion")) config->version = string_at(value, end);
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

/* Builds the whole request in one piece. The memory is reserved for the largest one; the kernel gives only what is used. */
static int build_request(struct request *request) {
  static const char magic[] = "PW1";
  size_t room = sizeof magic + environment_length() + 1 + INPUT_LIMIT;
  request->bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (request->bytes == MAP_FAILED) return -1;
  memcpy(request->bytes, magic, sizeof magic);
  char *input = append_environment(request->bytes + sizeof magic) + 1;
  ssize_t length = read_all(STDIN_FILENO, input, INPUT_LIMIT);
  if (length < 0) return -1;
  request->length = (size_t)(input - request->bytes) + (size_t)length;
  scan_config(input, input + length, &request->config);
  return 0;
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

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
  if (fd < 0 || connect_socket(fd, &address, CONNECT_SECONDS) < 0)
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
