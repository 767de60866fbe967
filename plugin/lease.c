#define _GNU_SOURCE
#include "lease.h"

#include <arpa/inet.h>
#include <string.h>

#include "failure.h"
#include "indent.h"
#include "json.h"

#define NO_PROTOCOL "`protocol` is none of IPv4, IPv6 and Dual"
#define NO_ADDRESSES "`address` is not one address of each family"
#define NO_NETWORKS "`cidr` is not one network of each family"
#define NO_GATEWAYS "`gateway` is not one address of each family"

struct family {
  int number;
  const char *version, *key, *everywhere;
  int longest;
};

static const struct family families[] = {{AF_INET, "4", "ip4", "0.0.0.0/0", 32}, {AF_INET6, "6", "ip6", "::/0", 128}};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Takes the text of a member, an empty one for null. Returns 0, or -1 for what is no text that fits. */
static int take_text(struct slice response, const char *name, char into[TEXT_ROOM]) {
  struct slice value = find_member(response, name);
  *into = 0;
  if (!value.start || *value.start == 'n') return 0;
  if (*value.start != '"') return -1;
  size_t length = decode((struct slice){value.start + 1, value.length - 2}, into, TEXT_ROOM);
  if (length == TEXT_ROOM || memchr(into, 0, length)) return -1;
  into[length] = 0;
  return 0;
}

/* Cuts a list of `count` texts at its commas. Returns 0, or -1 when it has more or fewer. */
static int cut(char *list, char *items[2], size_t count) {
  char *comma = strchr(list, ',');
  items[0] = list;
  if (count == 1) return comma ? -1 : 0;
  if (!comma || strchr(comma + 1, ',')) return -1;
  *comma = 0;
  items[1] = comma + 1;
  return 0;
}

static int is_address(const struct family *family, const char *text) {
  unsigned char bytes[16];
  return inet_pton(family->number, text, bytes) == 1;
}

/* Cuts off the prefix length of a network and returns it; NULL when it is no network of the family. */
static const char *take_prefix(const struct family *family, char *cidr) {
  char *slash = strchr(cidr, '/');
  if (!slash) return NULL;
  *slash = 0;
  const char *prefix = slash + 1;
  size_t length = strspn(prefix, "0123456789");
  if (prefix[length] || length == 0 || length > 3 || (*prefix == '0' && length > 1)) return NULL;
  int number = 0;
  for (size_t i = 0; i < length; i++) number = number * 10 + prefix[i] - '0';
  return number <= family->longest && is_address(family, cidr) ? prefix : NULL;
}

static const char *read_addresses(struct lease *lease) {
  char *ips[2], *cidrs[2], *gateways[2] = {"", ""};
  if (cut(lease->ips, ips, lease->count) < 0) return NO_ADDRESSES;
  if (cut(lease->cidrs, cidrs, lease->count) < 0) return NO_NETWORKS;
  if (*lease->gateways && cut(lease->gateways, gateways, lease->count) < 0) return NO_GATEWAYS;
  for (size_t i = 0; i < lease->count; i++) {
    const struct family *family = lease->addresses[i].family;
    struct address address = {family, ips[i], take_prefix(family, cidrs[i]), gateways[i]};
    if (!is_address(family, address.text)) return NO_ADDRESSES;
    if (!address.prefix) return NO_NETWORKS;
    if (*address.gateway && !is_address(family, address.gateway)) return NO_GATEWAYS;
    lease->addresses[i] = address;
  }
  return NULL;
}

/* Returns the number of families that a protocol stands for, 0 for an unknown one. */
static size_t read_protocol(const char *protocol, struct address addresses[2]) {
  int is_dual = strcmp(protocol, "Dual") == 0, is_ipv6 = strcmp(protocol, "IPv6") == 0;
  addresses[0].family = &families[is_ipv6];
  addresses[1].family = &families[1];
  if (is_dual) return 2;
  return is_ipv6 || strcmp(protocol, "IPv4") == 0;
}

const char *read_lease(struct slice response, struct lease *lease) {
  char protocol[TEXT_ROOM];
  if (take_text(response, "protocol", protocol) < 0) return NO_PROTOCOL;
  lease->count = read_protocol(protocol, lease->addresses);
  if (lease->count == 0) return NO_PROTOCOL;
  if (take_text(response, "address", lease->ips) < 0) return NO_ADDRESSES;
  if (take_text(response, "cidr", lease->cidrs) < 0) return NO_NETWORKS;
  if (take_text(response, "gateway", lease->gateways) < 0) return NO_GATEWAYS;
  if (take_text(response, "nicname", lease->interface) < 0) return "`nicname` is no short string";
  if (take_text(response, "mac_address", lease->mac) < 0) return "`mac_address` is no short string";
  return read_addresses(lease);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static void put_member(struct output *output, const char *key, const char *text) {
  put_text(output, key);
  put_escaped(output, slice_of(text));
  put_text(output, "\"");
}

/* An address with its prefix length and, if there is one, its gateway; the object stays open. */
static void put_address(struct output *output, const char *key, const struct address *address) {
  put_text(output, key);
  put_text(output, address->text);
  put_text(output, "/");
  put_text(output, address->prefix);
  put_text(output, "\"");
  if (*address->gateway) put_member(output, ",\"gateway\":\"", address->gateway);
}

static void put_route(struct output *output, const struct address *address) {
  put_member(output, "{\"dst\":\"", address->family->everywhere);
  put_member(output, ",\"gw\":\"", address->gateway);
  put_text(output, "}");
}

/* The form below 0.3.0, in which each address has its own routes. */
static void put_legacy(struct output *output, const struct lease *lease) {
  for (size_t i = 0; i < lease->count; i++) {
    const struct address *address = &lease->addresses[i];
    put_member(output, ",\"", address->family->key);
    put_address(output, ":{\"ip\":\"", address);
    if (*address->gateway) {
      put_text(output, ",\"routes\":[");
      put_route(output, address);
      put_text(output, "]");
    }
    put_text(output, "}");
  }
}

static void put_interface(struct output *output, const struct lease *lease) {
  put_member(output, ",\"interfaces\":[{\"name\":\"", lease->interface);
  if (*lease->mac) put_member(output, ",\"mac\":\"", lease->mac);
  put_text(output, "}]");
}

static void put_addresses(struct output *output, const struct lease *lease) {
  for (size_t i = 0; i < lease->count; i++) {
    put_text(output, i == 0 ? ",\"ips\":[" : ",");
    put_member(output, "{\"version\":\"", lease->addresses[i].family->version);
    put_address(output, ",\"address\":\"", &lease->addresses[i]);
    put_text(output, "}");
  }
  put_text(output, "]");
}

static void put_routes(struct output *output, const struct lease *lease) {
  const char *before = ",\"routes\":[";
  for (size_t i = 0; i < lease->count; i++) {
    if (!*lease->addresses[i].gateway) continue;
    put_text(output, before);
    put_route(output, &lease->addresses[i]);
    before = ",";
  }
  if (strcmp(before, ",") == 0) put_text(output, "]");
}

int print_lease(const struct lease *lease, const char *version) {
  /* Never flushed: all texts together are shorter than its buffer. */
  static struct output built;
  _Static_assert(6 * sizeof lease->ips * 5 < sizeof built.buffer / 2, "the result must fit, even if all is escaped");
  built.fd = -1;
  int is_legacy = strcmp(version, "0.3.0") < 0;
  put_text(&built, "{\"cniVersion\":\"\"");
  if (is_legacy) put_legacy(&built, lease);
  else put_interface(&built, lease), put_addresses(&built, lease), put_routes(&built, lease);
  put_text(&built, ",\"dns\":{}}");
  /* The original has no form of 0.1.0, and says so. */
  put_indented(&standard_output, (struct slice){built.buffer, built.waiting}, is_legacy ? "0.2.0" : version);
  return flush(&standard_output) < 0;
}
