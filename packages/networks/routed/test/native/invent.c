/*
 * Sends what an ordinary program cannot: frames of a pod with a sender that it made up.
 *
 *   invent arp INTERFACE COUNT     ARP requests for 169.254.1.1 from 10.99.X.Y
 *   invent nd INTERFACE COUNT      neighbour solicitations for fe80::ecee:eeff:feee:eeee from fe80::bad:X
 *   invent dhcp INTERFACE COUNT    datagrams from 0.0.0.0 port 68 to 255.255.255.255 port 67
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const unsigned char own[6] = {2, 0, 0, 0, 0, 9}, host[6] = {0xee, 0xee, 0xee, 0xee, 0xee, 0xee};

static unsigned short sum(const void *data, size_t length, unsigned long start) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < length; i += 2) start += (bytes[i] << 8) | (i + 1 < length ? bytes[i + 1] : 0);
  while (start >> 16) start = (start & 0xffff) + (start >> 16);
  return htons(~start & 0xffff);
}

static size_t arp(unsigned char *at, int number) {
  struct ether_arp *packet = (void *)at;
  packet->arp_hrd = htons(1);
  packet->arp_pro = htons(ETH_P_IP);
  packet->arp_hln = 6;
  packet->arp_pln = 4;
  packet->arp_op = htons(ARPOP_REQUEST);
  memcpy(packet->arp_sha, own, 6);
  unsigned char sender[4] = {10, 99, number >> 8, number & 255}, target[4] = {169, 254, 1, 1};
  memcpy(packet->arp_spa, sender, 4);
  memcpy(packet->arp_tpa, target, 4);
  return sizeof *packet;
}

static size_t solicit(unsigned char *at, int number) {
  struct { struct ip6_hdr ip; struct nd_neighbor_solicit message; unsigned char option[8]; } *packet = (void *)at;
  size_t length = sizeof packet->message + sizeof packet->option;
  packet->ip.ip6_flow = htonl(6u << 28);
  packet->ip.ip6_plen = htons(length);
  packet->ip.ip6_nxt = IPPROTO_ICMPV6;
  packet->ip.ip6_hlim = 255;
  inet_pton(AF_INET6, "fe80::bad:0", &packet->ip.ip6_src);
  packet->ip.ip6_src.s6_addr[14] = number >> 8;
  packet->ip.ip6_src.s6_addr[15] = number & 255;
  inet_pton(AF_INET6, "fe80::ecee:eeff:feee:eeee", &packet->ip.ip6_dst);
  packet->message.nd_ns_type = ND_NEIGHBOR_SOLICIT;
  packet->message.nd_ns_target = packet->ip.ip6_dst;
  packet->option[0] = ND_OPT_SOURCE_LINKADDR;
  packet->option[1] = 1;
  memcpy(packet->option + 2, own, 6);
  /* RFC 8200 section 8.1: the pseudo-header's addresses, length and protocol count too. */
  unsigned long start = (~ntohs(sum(&packet->ip.ip6_src, 32, 0)) & 0xffff) + length + IPPROTO_ICMPV6;
  packet->message.nd_ns_cksum = sum(&packet->message, length, start);
  return sizeof packet->ip + length;
}

static size_t discover(unsigned char *at) {
  struct { struct iphdr ip; struct udphdr udp; char data[8]; } *packet = (void *)at;
  packet->ip = (struct iphdr){.version = 4, .ihl = 5, .tot_len = htons(sizeof *packet), .ttl = 64, .protocol = IPPROTO_UDP};
  packet->ip.daddr = htonl(INADDR_BROADCAST);
  packet->ip.check = sum(&packet->ip, sizeof packet->ip, 0);
  packet->udp.source = htons(68);
  packet->udp.dest = htons(67);
  packet->udp.len = htons(sizeof packet->udp + sizeof packet->data);
  return sizeof *packet;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int s = socket(AF_PACKET, SOCK_RAW, 0);
  struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(argv[2])};
  for (int number = 1; number <= atoi(argv[3]); number++) {
    unsigned char frame[128] = {0};
    struct ethhdr *header = (void *)frame;
    int is_arp = strcmp(argv[1], "arp") == 0, is_nd = strcmp(argv[1], "nd") == 0;
    memcpy(header->h_dest, host, 6);
    memcpy(header->h_source, own, 6);
    header->h_proto = htons(is_arp ? ETH_P_ARP : is_nd ? ETH_P_IPV6 : ETH_P_IP);
    unsigned char *at = frame + sizeof *header;
    size_t length = is_arp ? arp(at, number) : is_nd ? solicit(at, number) : discover(at);
    if (sendto(s, frame, sizeof *header + length, 0, (void *)&to, sizeof to) < 0) {
      perror("invent");
      return 1;
    }
  }
  return 0;
}
