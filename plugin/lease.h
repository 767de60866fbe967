/* The addresses that a node of Kube-OVN gives a pod, and the CNI result that the original makes of it. As lease.ts. */
#ifndef PODWIRE_LEASE_H
#define PODWIRE_LEASE_H

#include "streams.h"

/* For one of the texts; two networks have 87 bytes at most. */
#define TEXT_ROOM 128

struct family;

struct address {
  const struct family *family;
  const char *text;
  const char *prefix;
  /* Empty: there is none. */
  const char *gateway;
};

struct lease {
  /* IPv4 before IPv6. */
  struct address addresses[2];
  size_t count;
  char ips[TEXT_ROOM], cidrs[TEXT_ROOM], gateways[TEXT_ROOM], interface[TEXT_ROOM], mac[TEXT_ROOM];
};

/* Reads a response that is_object() accepted. Returns NULL, or what is wrong with it. */
const char *read_lease(struct slice response, struct lease *lease);

/* Prints the result under the version of the configuration. Returns the exit code. */
int print_lease(const struct lease *lease, const char *version);

#endif
