/*
 * The CNI plugin of OpenShift SDN by its original name, for nodes whose network configuration names it. It asks the
 * node over the original's socket (packages/openshift-cni is the other side), with the original's words, codes and
 * output. openshift-sdn.ts is the same program for machines without a C compiler, and one suite tests both.
 *
 * The original makes the veth pair before it asks, and sets up the pod afterwards. Here the agent does both, so an ADD
 * carries no `hostVeth`, and the answer is the result as it stands.
 *
 * No stdio, no malloc, as in podwire-cni.c. What is read has a limit and a place; the kernel gives only what is used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failure.h"
#include "http.h"
#include "indent.h"
#include "json.h"
#include "output.h"
#include "streams.h"
#include "version.h"

#if !defined PODWIRE_VERSION || !defined RUN_DIRECTORY
#error "build.ts compiles this, and names the version and the directory of the socket"
#endif

#define SOCKET RUN_DIRECTORY "/socket"
#define CONFIG RUN_DIRECTORY "/config.json"

/* The original's error code for everything but versions. */
enum { CODE_FAILED = 100 };

#define QUOTED_VERSIONS "\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\""
static const struct versions versions = {(const char *const[]){"0.1.0", "0.2.0", "0.3.0", "0.3.1", NULL},
                                         "[\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\"]"};

/* `podwire install` and `podwire uninstall` know their own programs by these words. */
__attribute__((used)) static const char mark[] = "Podwire CNI plugin openshift-sdn " PODWIRE_VERSION;

/* ---- errors ----------------------------------------------------------------------------------------------------- */

static int fail(const char *message, const char *reason) {
  return fail_about(CODE_FAILED, message, LITERAL(""), reason);
}

/* ---- the environment -------------------------------------------------------------------------------------------- */

struct command {
  const char *name;
  const char *needed[3];
};

static const struct command commands[] = {
    {"ADD", {"CNI_NETNS", "CNI_IFNAME", "CNI_PATH"}}, {"DEL", {"CNI_IFNAME", "CNI_PATH"}}, {"VERSION", {0}}};

static const struct command *find_command(const char *name) {
  static const struct command none = {"", {"CNI_COMMAND"}};
  if (!*name) return &none;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

/* Names each variable that is missing; returns how many they are. */
static int name_missing(const struct command *command) {
  int missing = 0;
  for (size_t i = 0; i < 3 && command->needed[i]; i++) {
    const char *value = getenv(command->needed[i]);
    if (value && *value) continue;
    missing++;
    write_text(STDERR_FILENO, command->needed[i]);
    write_text(STDERR_FILENO, " env variable missing\n");
  }
  return missing;
}

static size_t name_length(const char *pair) { return (size_t)(strchr(pair, '=') - pair); }

/* By the bytes of their names, as Go sorts. Of several by one name the first counts, which is the first in memory. */
static int compare_pairs(const void *one, const void *other) {
  const char *a = *(char *const *)one, *b = *(char *const *)other;
  size_t length_a = name_length(a), length_b = name_length(b);
  int order = memcmp(a, b, length_a < length_b ? length_a : length_b);
  if (order != 0) return order;
  if (length_a != length_b) return length_a < length_b ? -1 : 1;
  return (a > b) - (a < b);
}

static int have_same_name(const char *a, const char *b) {
  return name_length(a) == name_length(b) && memcmp(a, b, name_length(a)) == 0;
}

/* Leaves in `environ` what is carried, each name once and in order. */
static void sort_environment(void) {
  size_t count = 0, kept = 0;
  for (char **pair = environ; *pair; pair++)
    if (is_carried(*pair)) environ[count++] = *pair;
  qsort(environ, count, sizeof *environ, compare_pairs);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || !have_same_name(environ[kept - 1], environ[i])) environ[kept++] = environ[i];
  environ[kept] = NULL;
}

/* ---- what is read before the node is asked ---------------------------------------------------------------------- */

/* Finds the version of the configuration, which it may leave out. Returns 0, or the exit code after an error. */
static int read_version(struct slice config, const char **version) {
  if (!is_object(config)) return fail("decoding version from network config: ", NO_OBJECT);
  return check_version(config, &versions, CODE_FAILED, version);
}

/* Reads the file, and one byte more than the limit where it is longer. Returns the length, or -1. */
static ssize_t read_config(char *into) {
  int fd = open(CONFIG, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : read_all(fd, into, LIMIT + 1);
}

/*
 * The agent has made it, so what is in it is its own; but an agent that is not ready, or a broken file, ends the ADD
 * here. Returns 0, or the exit code after an error.
 */
static int check_node_config(void) {
  static char text[LIMIT + 1];
  static const char unreadable[] = "could not read config file \"" CONFIG "\": ";
  ssize_t length = read_config(text);
  if (length < 0 && errno == ENOENT) return fail("OpenShift SDN network process is not (yet?) available", "");
  if (length < 0) return fail(unreadable, error_name(errno));
  if (length > LIMIT) return fail(unreadable, "it is longer than " LIMIT_TEXT);
  if (is_object((struct slice){text, (size_t)length})) return 0;
  return fail("could not parse config file \"" CONFIG "\": ", NO_OBJECT);
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static void put_body(struct output *output, struct slice config) {
  put_text(output, "{\"env\":{");
  for (char **pair = environ; *pair; pair++) {
    put_text(output, pair == environ ? "\"" : ",\"");
    put_escaped(output, (struct slice){*pair, name_length(*pair)});
    put_text(output, "\":\"");
    put_escaped(output, slice_of(*pair + name_length(*pair) + 1));
    put_text(output, "\"");
  }
  put_text(output, "},\"config\":\"");
  put_base64(output, config);
  put_text(output, "\"}");
}

/* The node may answer and close before it has read everything: its answer counts, so a failure is not looked at. */
static void send_request(int fd, struct slice config) {
  static struct output counted, sent;
  counted.fd = -1;
  put_body(&counted, config);
  sent.fd = fd;
  put_text(&sent, "POST / HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\nContent-Length: ");
  put_number(&sent, counted.count);
  put_text(&sent, "\r\nConnection: keep-alive\r\n\r\n");
  put_body(&sent, config);
  flush(&sent);
}

/* Asks the node. Returns 0, or the exit code after an error. */
static int ask(struct slice config, struct slice *text) {
  static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect_socket(fd, &address, 0) < 0)
    return fail_about(CODE_FAILED, "failed to send CNI request: connect ", slice_of(error_name(errno)), " " SOCKET);
  send_request(fd, config);
  struct answer answer = receive_answer(fd);
  if (answer.failure) return fail(answer.failure, "");
  *text = answer.body;
  if (strcmp(answer.status, "200") == 0) return 0;
  char failed[] = "CNI request failed with status ???: '";
  memcpy(strchr(failed, '?'), answer.status, 3);
  return fail_about(CODE_FAILED, failed, *text, "'");
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* Pods of OpenShift SDN have one IPv4 address. */
static int is_one_address(struct slice ips) {
  const char *end = ips.start + ips.length;
  if (!ips.start || *ips.start != '[') return 0;
  const char *first = skip_space(ips.start + 1, end);
  if (*first != '{') return 0;
  const char *after = end_of_value(first, end, LEVELS);
  if (*skip_space(after, end) != ']') return 0;
  struct slice version = find_member((struct slice){first, (size_t)(after - first)}, "version");
  return version.start && *version.start == '"' && is_text((struct slice){version.start + 1, version.length - 2}, "4");
}

/*
 * Prints the result under the version of the configuration. Versions below 0.3.0 have one form, and so have those from
 * there on.
 */
static int print_result(struct slice text, const char *version) {
  if (!is_object(text)) return fail_about(CODE_FAILED, "failed to unmarshal response '", text, "': " NO_OBJECT);
  int has_address = strcmp(version, "0.3.0") < 0 ? find_member(text, "ip4").start != NULL
                                                 : is_one_address(find_member(text, "ips"));
  if (!has_address) return fail_about(CODE_FAILED, "Unexpected IPAM result: '", text, "'");
  put_indented(&standard_output, text, version);
  return flush(&standard_output) < 0;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

static int carry(int is_add) {
  static char input[LIMIT + 1];
  ssize_t length = read_all(STDIN_FILENO, input, sizeof input);
  if (length < 0) return fail("error reading from stdin: ", error_name(errno));
  if (length > LIMIT) return fail("the network configuration is longer than " LIMIT_TEXT, "");
  struct slice config = {input, (size_t)length}, answer;
  const char *version;
  if (read_version(config, &version) != 0) return 1;
  if (is_add && check_node_config() != 0) return 1;
  sort_environment();
  if (ask(config, &answer) != 0) return 1;
  return is_add ? print_result(answer, version) : 0;
}

static int print_versions(void) {
  static const char answer[] = "{\"cniVersion\":\"0.3.1\",\"supportedVersions\":[" QUOTED_VERSIONS "]}\n";
  return write_text(STDOUT_FILENO, answer) < 0;
}

int main(void) {
  standard_output.fd = STDOUT_FILENO;
  signal(SIGPIPE, SIG_IGN);
  const char *name = getenv("CNI_COMMAND");
  const struct command *command = find_command(name ? name : "");
  if (!command) return fail_about(CODE_FAILED, "unknown CNI_COMMAND: ", slice_of(name), "");
  if (name_missing(command) > 0) return fail("required env variables missing", "");
  if (strcmp(name, "VERSION") == 0) return print_versions();
  return carry(strcmp(name, "ADD") == 0);
}
