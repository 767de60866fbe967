/*
 * Sends one ICMPv6 router advertisement (RFC 4861 section 4.2) that offers the sender as default router for half an hour.
 *
 *   advertise INTERFACE
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  struct nd_router_advert message = {0};
  struct sockaddr_in6 all_nodes = {.sin6_family = AF_INET6};
  int hops = 255; /* anything less is ignored by receivers */
  if (argc != 2) return 2;
  message.nd_ra_type = ND_ROUTER_ADVERT;
  message.nd_ra_curhoplimit = 64;
  message.nd_ra_router_lifetime = htons(1800);
  inet_pton(AF_INET6, "ff02::1", &all_nodes.sin6_addr);
  all_nodes.sin6_scope_id = if_nametoindex(argv[1]);
  int s = socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
  if (s < 0 || setsockopt(s, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops) < 0 ||
      sendto(s, &message, sizeof message, 0, (struct sockaddr *)&all_nodes, sizeof all_nodes) < 0) {
    perror("advertise");
    return 1;
  }
  return 0;
}
