/*
 * The least that giving a pod its network can cost: a static program that sends the netlink messages of a routed
 * pod (veth pair, address, two routes, host route, proxy ARP) in as few system calls as the kernel allows, and nothing
 * else: no configuration, no allocation of addresses, no record, no policy. CNI_COMMAND=DEL takes the link down and into a
 * group that is deleted in one go later, since the deletion of a single link costs a grace period of the kernel.
 *
 * Environment: CNI_COMMAND, CNI_NETNS, FLOOR_LINK (name of the host's end), FLOOR_ADDRESS (IPv4).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DELETION_GROUP = 4242 };

static char batch[8192];
static size_t used;
static unsigned requests;

static void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

static struct nlmsghdr *begin(unsigned short type, unsigned short flags, const void *header, size_t size) {
  struct nlmsghdr *n = (struct nlmsghdr *)(batch + used);
  memset(n, 0, 1024);
  *n = (struct nlmsghdr){NLMSG_LENGTH((unsigned)size), type, (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags), ++requests, 0};
  memcpy(NLMSG_DATA(n), header, size);
  return n;
}

static struct rtattr *put(struct nlmsghdr *n, unsigned short type, const void *data, size_t size) {
  struct rtattr *a = (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
  a->rta_type = type;
  a->rta_len = (unsigned short)RTA_LENGTH(size);
  if (size > 0) memcpy(RTA_DATA(a), data, size);
  n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(a->rta_len);
  return a;
}

static void close_nest(struct nlmsghdr *n, struct rtattr *a) {
  a->rta_len = (unsigned short)((char *)n + n->nlmsg_len - (char *)a);
}

static void end(struct nlmsghdr *n) { used += NLMSG_ALIGN(n->nlmsg_len); }

/* Sends what has been collected and reads every acknowledgement. */
static void flush(int s) {
  static char answer[16384];
  if (send(s, batch, used, 0) < 0) fail("send");
  while (requests > 0) {
    ssize_t n = recv(s, answer, sizeof answer, 0);
    if (n < 0) fail("recv");
    for (struct nlmsghdr *h = (struct nlmsghdr *)answer; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
      if (h->nlmsg_type != NLMSG_ERROR) continue;
      errno = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
      if (errno != 0) fail("netlink");
      requests--;
    }
  }
  used = 0;
}

static int open_netlink(void) {
  int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (s < 0) fail("socket");
  return s;
}

static void put_veth(const char *name, int pod) {
  struct ifinfomsg link = {0};
  struct nlmsghdr *n = begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
  put(n, IFLA_IFNAME, name, strlen(name) + 1);
  struct rtattr *info = put(n, IFLA_LINKINFO, NULL, 0);
  put(n, IFLA_INFO_KIND, "veth", 4);
  struct rtattr *data = put(n, IFLA_INFO_DATA, NULL, 0);
  struct rtattr *peer = put(n, VETH_INFO_PEER, &link, sizeof link);
  put(n, IFLA_IFNAME, "eth0", 5);
  put(n, IFLA_NET_NS_FD, &pod, sizeof pod);
  close_nest(n, peer);
  close_nest(n, data);
  close_nest(n, info);
  end(n);
}

static void put_up(int index) {
  struct ifinfomsg link = {.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
  end(begin(RTM_NEWLINK, 0, &link, sizeof link));
}

static void put_address(int index, struct in_addr address) {
  struct ifaddrmsg header = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = (unsigned)index};
  struct nlmsghdr *n = begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
  put(n, IFA_LOCAL, &address, 4);
  put(n, IFA_ADDRESS, &address, 4);
  end(n);
}

static void put_route(int index, unsigned char length, const void *to, const void *gateway) {
  struct rtmsg header = {.rtm_family = AF_INET, .rtm_dst_len = length, .rtm_table = RT_TABLE_MAIN,
                         .rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_UNICAST,
                         .rtm_scope = gateway == NULL ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE};
  struct nlmsghdr *n = begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &header, sizeof header);
  if (length > 0) put(n, RTA_DST, to, 4);
  if (gateway != NULL) put(n, RTA_GATEWAY, gateway, 4);
  put(n, RTA_OIF, &index, 4);
  end(n);
}

static void enter(int namespace) {
  if (setns(namespace, CLONE_NEWNET) < 0) fail("setns");
}

static void write_proxy_arp(const char *link) {
  char path[128];
  snprintf(path, sizeof path, "/proc/sys/net/ipv4/conf/%s/proxy_arp", link);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "1", 1) != 1) fail(path);
  close(fd);
}

static void add(const char *link, const char *namespace, const char *text) {
  struct in_addr address, gateway;
  if (inet_pton(AF_INET, text, &address) != 1) fail(text);
  inet_pton(AF_INET, "169.254.1.1", &gateway);
  int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), pod = open(namespace, O_RDONLY | O_CLOEXEC);
  if (home < 0 || pod < 0) fail(namespace);
  int host_side = open_netlink();
  put_veth(link, pod);
  flush(host_side);
  enter(pod);
  int pod_side = open_netlink(), eth0 = (int)if_nametoindex("eth0");
  put_address(eth0, address);
  put_up(eth0);
  put_route(eth0, 32, &gateway, NULL);
  put_route(eth0, 0, NULL, &gateway);
  flush(pod_side);
  enter(home);
  int index = (int)if_nametoindex(link);
  put_up(index);
  put_route(index, 32, &address, NULL);
  flush(host_side);
  write_proxy_arp(link);
}

static void delete(const char *link) {
  unsigned group = DELETION_GROUP;
  struct ifinfomsg header = {.ifi_index = (int)if_nametoindex(link), .ifi_change = IFF_UP};
  struct nlmsghdr *n = begin(RTM_NEWLINK, 0, &header, sizeof header);
  put(n, IFLA_GROUP, &group, sizeof group);
  end(n);
  flush(open_netlink());
}

int main(void) {
  const char *command = getenv("CNI_COMMAND"), *link = getenv("FLOOR_LINK"), *namespace = getenv("CNI_NETNS");
  const char *address = getenv("FLOOR_ADDRESS");
  if (command == NULL || link == NULL || namespace == NULL || address == NULL) {
    fprintf(stderr, "floor: CNI_COMMAND, CNI_NETNS, FLOOR_LINK and FLOOR_ADDRESS must be set\n");
    return 2;
  }
  if (strcmp(command, "ADD") == 0) add(link, namespace, address);
  else delete(link);
  return 0;
}
