#define _GNU_SOURCE
#include "question.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "json.h"

#define TYPE "kube-ovn"
#define USUAL_PROVIDER "ovn"

static int fail(const char *message, const char *reason) {
  return fail_about(CODE_FAILED, message, LITERAL(""), reason);
}

/* ---- the environment -------------------------------------------------------------------------------------------- */

const char *variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

/* The value of a key of CNI_ARGS; the first that is not empty counts. Its start is NULL where there is none. */
static struct slice find_argument(const char *key) {
  size_t length = strlen(key);
  for (const char *at = variable("CNI_ARGS"), *end; *at; at = *end ? end + 1 : end) {
    end = strchrnul(at, ';');
    if (strncmp(at, key, length) == 0 && at[length] == '=' && at + length + 1 < end)
      return (struct slice){at + length + 1, (size_t)(end - at) - length - 1};
  }
  return (struct slice){NULL, 0};
}

/* Returns 0, or the exit code after an error. */
static int take_argument(const char *key, struct slice *value) {
  if (!*variable("CNI_ARGS")) return fail("CNI_ARGS is required", "");
  *value = find_argument(key);
  return value->start ? 0 : fail(key, " is required in CNI_ARGS");
}

/* ---- the network configuration ---------------------------------------------------------------------------------- */

static int is_null(struct slice value) { return !value.start || *value.start == 'n'; }

/* The inside of the string that a member is, nothing for null. Returns 0, or the exit code after an error. */
static int take_text(struct slice object, const char *name, struct slice *text) {
  struct slice value = find_member(object, name);
  *text = LITERAL("");
  if (is_null(value)) return 0;
  *text = (struct slice){value.start + 1, value.length - 2};
  if (*value.start == '"') return 0;
  return fail_about(CODE_FAILED, "failed to load netconf: `", slice_of(name), "` is no string");
}

/* Routes as the original reads them: null is a route without any text. Returns 0, or the exit code after an error. */
static int take_routes(struct slice config, struct slice *routes) {
  static const char message[] = "failed to load netconf: `routes` is no list of objects";
  struct slice ignored, item = {NULL, 0};
  *routes = find_member(config, "routes");
  if (is_null(*routes)) return *routes = (struct slice){NULL, 0}, 0;
  if (*routes->start != '[') return fail(message, "");
  while ((item = next_item(*routes, item)).start) {
    if (is_null(item)) continue;
    if (*item.start != '{') return fail(message, "");
    if (take_text(item, "dst", &ignored) != 0 || take_text(item, "gw", &ignored) != 0) return 1;
  }
  return 0;
}

/* A plugin of another type asks for addresses alone, and says in `ipam` where. Returns 0, or the exit code. */
static int choose_source(struct slice config, struct slice type, struct slice *source) {
  struct slice ipam = find_member(config, "ipam");
  *source = config;
  if (is_text(type, TYPE) || is_null(ipam)) return 0;
  *source = ipam;
  return *ipam.start == '{' ? 0 : fail("failed to load netconf: `ipam` is no object", "");
}

/* Returns 0, or the exit code after an error. */
static int read_config(struct slice config, struct question *question) {
  struct slice source;
  if (take_text(config, "type", &question->type) != 0) return 1;
  if (choose_source(config, question->type, &source) != 0) return 1;
  if (take_text(source, "server_socket", &question->socket) != 0) return 1;
  if (take_text(source, "provider", &question->provider) != 0) return 1;
  if (take_text(config, "deviceID", &question->device) != 0) return 1;
  if (take_text(config, "vf_driver", &question->driver) != 0) return 1;
  if (take_routes(config, &question->routes) != 0) return 1;
  if (question->socket.length == 0) return fail("server_socket is required in cni.conf", "");
  if (question->provider.length == 0) question->provider = LITERAL(USUAL_PROVIDER);
  return 0;
}

int read_question(struct slice config, struct question *question) {
  if (read_config(config, question) != 0) return 1;
  if (take_argument("K8S_POD_NAME", &question->pod) != 0) return 1;
  return take_argument("K8S_POD_NAMESPACE", &question->namespace);
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static void put_plain(struct output *output, const char *key, const char *value) {
  put_text(output, key);
  put_escaped(output, slice_of(value));
}

static void put_string(struct output *output, const char *key, struct slice inside) {
  put_text(output, key);
  put_spelled(output, inside);
}

static void put_route(struct output *output, struct slice route) {
  struct slice dst = LITERAL(""), gw = LITERAL("");
  if (!is_null(route)) take_text(route, "dst", &dst), take_text(route, "gw", &gw);
  put_string(output, "{\"dst\":\"", dst);
  put_string(output, "\",\"gw\":\"", gw);
  put_text(output, "\"}");
}

static void put_routes(struct output *output, struct slice routes) {
  struct slice item = {NULL, 0};
  put_text(output, "[");
  for (const char *before = ""; (item = next_item(routes, item)).start; before = ",") {
    put_text(output, before);
    put_route(output, item);
  }
  put_text(output, "]");
}

void put_question(struct output *output, const struct question *question) {
  put_string(output, "{\"cni_type\":\"", question->type);
  put_plain(output, "\",\"container_id\":\"", variable("CNI_CONTAINERID"));
  put_string(output, "\",\"deviceID\":\"", question->device);
  put_plain(output, "\",\"if_name\":\"", variable("CNI_IFNAME"));
  put_plain(output, "\",\"net_ns\":\"", variable("CNI_NETNS"));
  put_text(output, "\",\"pod_name\":\"");
  put_escaped(output, question->pod);
  put_text(output, "\",\"pod_namespace\":\"");
  put_escaped(output, question->namespace);
  put_string(output, "\",\"provider\":\"", question->provider);
  put_text(output, "\",\"routes\":");
  if (question->routes.start) put_routes(output, question->routes);
  else put_text(output, "null");
  put_string(output, ",\"vf_driver\":\"", question->driver);
  put_text(output, "\"}");
}
