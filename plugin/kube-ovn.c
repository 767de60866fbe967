/*
 * The CNI plugin of Kube-OVN by its original name, for nodes whose network configuration names it. It asks the node
 * over the original's socket (packages/kube-ovn-cni is the other side), with the original's words, codes and output.
 * kube-ovn.ts is the same program for machines without a C compiler, and one suite tests both.
 *
 * Here as there the node makes the links; the plugin asks, and prints what was made.
 *
 * No stdio, no malloc, as in podwire-cni.c. What is read has a limit and a place; the kernel gives only what is used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failure.h"
#include "http.h"
#include "json.h"
#include "lease.h"
#include "output.h"
#include "question.h"
#include "streams.h"
#include "version.h"

#ifndef PODWIRE_VERSION
#error "build.ts compiles this, and names the version"
#endif

/* Of Go's library of CNI 0.8.0, which the original is built with. */
enum { CODE_VERSION = 1, CODE_CONTAINER = 3, CODE_ENVIRONMENT = 4, CODE_IO = 5, CODE_DECODE = 6, CODE_CONFIG = 7 };

#define QUOTED_VERSIONS "\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\""
static const struct versions versions = {(const char *const[]){"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", NULL},
                                         "[\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\" \"0.4.0\"]"};

/* `podwire install` and `podwire uninstall` know their own programs by these words. */
__attribute__((used)) static const char mark[] = "Podwire CNI plugin kube-ovn " PODWIRE_VERSION;

static int fail(int code, const char *message, const char *reason) {
  return fail_about(code, message, LITERAL(""), reason);
}

/* ---- the environment -------------------------------------------------------------------------------------------- */

static int is_command(const char *name) { return strcmp(variable("CNI_COMMAND"), name) == 0; }

/* The original names what is missing for the commands that it knows, in this order. Returns 0, or the exit code. */
static int check_variables(void) {
  static const char *const names[] = {"CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_PATH"};
  int is_del = is_command("DEL"), is_known = is_del || is_command("ADD") || is_command("CHECK"), missing = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (*variable(names[i]) || (i > 0 && !is_known) || (i == 2 && is_del)) continue;
    if (missing++ == 0) begin_failure(CODE_ENVIRONMENT), put_text(&standard_output, "required env variables [");
    else put_text(&standard_output, ",");
    put_text(&standard_output, names[i]);
  }
  if (missing == 0) return 0;
  put_text(&standard_output, "] missing");
  return end_failure();
}

/* A letter or digit, then letters, digits, `_`, `.`, `-`: container ids and names of networks. */
static int is_name(const char *text, size_t length) {
  static const char inner[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-";
  for (size_t i = 0; i < length; i++)
    if (!memchr(inner, text[i], i > 0 ? 65 : 62)) return 0;
  return length > 0;
}

static int check_container(const char *id) {
  if (!*id) return fail(CODE_CONTAINER, "missing containerID", "");
  if (is_name(id, strlen(id))) return 0;
  begin_failure(CODE_ENVIRONMENT);
  put_text(&standard_output, "invalid characters in containerID");
  begin_details();
  put_escaped(&standard_output, slice_of(id));
  return end_failure();
}

static int check_interface(const char *name) {
  if (!*name) return fail(CODE_ENVIRONMENT, "interface name is empty", "");
  if (strlen(name) > 15) {
    begin_failure(CODE_ENVIRONMENT);
    put_text(&standard_output, "interface name is too long");
    begin_details();
    put_text(&standard_output, "interface name should be less than 16 characters");
    return end_failure();
  }
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return fail(CODE_ENVIRONMENT, "interface name is . or ..", "");
  if (!strpbrk(name, "/: \t\n\v\f\r")) return 0;
  return fail(CODE_ENVIRONMENT, "interface name contains / or : or whitespace characters", "");
}

/* Returns 0, or the exit code after an error. */
static int check_name(struct slice config) {
  static const char undecodable[] = "error unmarshall network config: ";
  char name[256];
  if (!is_object(config)) return fail(CODE_DECODE, undecodable, NO_OBJECT);
  struct slice value = find_member(config, "name");
  if (!value.start || *value.start == 'n') return fail(CODE_CONFIG, "missing network name", "");
  if (*value.start != '"') return fail(CODE_DECODE, undecodable, "`name` is no string");
  if (value.length == 2) return fail(CODE_CONFIG, "missing network name", "");
  struct slice text = {value.start + 1, value.length - 2};
  size_t length = decode(text, name, sizeof name);
  if (length < sizeof name && is_name(name, length)) return 0;
  begin_failure(CODE_CONFIG);
  put_text(&standard_output, "invalid characters found in network name");
  begin_details();
  put_spelled(&standard_output, text);
  return end_failure();
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

/* The node may answer and close before it has read everything: its answer counts, so a failure is not looked at. */
static void send_request(int fd, const char *path, const struct question *question) {
  static struct output counted, sent;
  counted.fd = -1;
  put_question(&counted, question);
  sent.fd = fd;
  put_text(&sent, "POST ");
  put_text(&sent, path);
  put_text(&sent, " HTTP/1.1\r\nHost: dummy\r\nContent-Length: ");
  put_number(&sent, counted.count);
  put_text(&sent, "\r\nContent-Type: application/json\r\n\r\n");
  put_question(&sent, question);
  flush(&sent);
}

/* The address of the socket. Returns 0, or the exit code after an error. */
static int read_address(struct slice socket, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t length = decode(socket, address->sun_path, sizeof address->sun_path);
  if (length < sizeof address->sun_path && !memchr(address->sun_path, 0, length)) return 0;
  return fail(CODE_FAILED, "server_socket must be a path of at most 107 bytes", "");
}

/* Asks the node. Returns 0, or the exit code after an error. */
static int ask(const char *path, const struct question *question, struct answer *answer) {
  struct sockaddr_un address;
  if (read_address(question->socket, &address) != 0) return 1;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect_socket(fd, &address, 0) < 0) {
    begin_failure(CODE_FAILED);
    put_text(&standard_output, "failed to send CNI request: connect ");
    put_text(&standard_output, error_name(errno));
    put_text(&standard_output, " ");
    put_spelled(&standard_output, question->socket);
    return end_failure();
  }
  send_request(fd, path, question);
  *answer = receive_answer(fd);
  return answer->failure ? fail(CODE_FAILED, answer->failure, "") : 0;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

/* Prints the `error` of an answer, or all of it where that is no text. Returns the exit code. */
static int fail_status(const char *what, const struct answer *answer) {
  struct slice error = {NULL, 0};
  if (is_object(answer->body)) error = find_member(answer->body, "error");
  begin_failure(CODE_FAILED);
  put_text(&standard_output, what);
  put_text(&standard_output, " ip return ");
  put_text(&standard_output, answer->status);
  put_text(&standard_output, " ");
  if (!error.start || *error.start != '"') put_escaped(&standard_output, answer->body);
  else put_spelled(&standard_output, (struct slice){error.start + 1, error.length - 2});
  return end_failure();
}

static int print_result(struct slice body, const char *version) {
  struct lease lease;
  const char *fault = is_object(body) ? read_lease(body, &lease) : NO_OBJECT;
  if (!fault) return print_lease(&lease, version);
  begin_failure(CODE_FAILED);
  put_text(&standard_output, "failed to read the response '");
  put_escaped(&standard_output, body);
  put_text(&standard_output, "': ");
  put_escaped(&standard_output, slice_of(fault));
  return end_failure();
}

static int add(struct slice config, const char *version) {
  struct question question;
  struct answer answer;
  if (read_question(config, &question) != 0 || ask("/api/v1/add", &question, &answer) != 0) return 1;
  if (strcmp(answer.status, "200") != 0) return fail_status("request", &answer);
  return print_result(answer.body, version);
}

static int del(struct slice config) {
  struct question question;
  struct answer answer;
  if (read_question(config, &question) != 0) return 1;
  question.routes = (struct slice){NULL, 0};
  question.driver = LITERAL("");
  if (ask("/api/v1/del", &question, &answer) != 0) return 1;
  return strcmp(answer.status, "204") == 0 ? 0 : fail_status("delete", &answer);
}

/* There is no CHECK. Under 0.4.0, which has one, the original ends by a signal. */
static int refuse_check(const char *version) {
  int is_defined = strcmp(version, "0.4.0") == 0;
  return fail(CODE_VERSION, is_defined ? "plugin" : "config", " version does not allow CHECK");
}

static int serve(struct slice config) {
  const char *version, *name = variable("CNI_COMMAND");
  if (check_name(config) != 0 || check_container(variable("CNI_CONTAINERID")) != 0) return 1;
  if (check_interface(variable("CNI_IFNAME")) != 0) return 1;
  int is_add = is_command("ADD"), is_check = is_command("CHECK");
  if (!is_add && !is_check && !is_command("DEL"))
    return fail_about(CODE_ENVIRONMENT, "unknown CNI_COMMAND: ", slice_of(name), "");
  if (check_version(config, &versions, CODE_DECODE, &version) != 0) return 1;
  if (is_check) return refuse_check(version);
  return is_add ? add(config, version) : del(config);
}

static int print_versions(void) {
  static const char answer[] = "{\"cniVersion\":\"0.4.0\",\"supportedVersions\":[" QUOTED_VERSIONS "]}\n";
  return write_text(STDOUT_FILENO, answer) < 0;
}

int main(void) {
  static char input[LIMIT + 1];
  standard_output.fd = STDOUT_FILENO;
  signal(SIGPIPE, SIG_IGN);
  if (check_variables() != 0) return 1;
  if (is_command("VERSION")) return print_versions();
  ssize_t length = read_all(STDIN_FILENO, input, sizeof input);
  if (length < 0) return fail(CODE_IO, "error reading from stdin: ", error_name(errno));
  if (length > LIMIT) return fail(CODE_IO, "the network configuration is longer than " LIMIT_TEXT, "");
  return serve((struct slice){input, (size_t)length});
}
