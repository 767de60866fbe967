/*
 * The traffic side of the tests: small servers and clients that start in under a millisecond.
 *
 *   probe serve tcp|udp|sctp ADDRESS PORT         echo server; prints "ready PORT"
 *   probe ask   tcp|udp|sctp ADDRESS PORT MS [FROM]   sends stdin, prints the answer
 *   probe sink  ADDRESS PORT                      counts what TCP connections bring; prints "ready PORT"
 *   probe pour  ADDRESS PORT BYTES                fills such a connection; prints "BYTES NANOSECONDS" of the sink, and the
 *                                                 nanoseconds that both have computed
 *   probe answer ADDRESS PORT                     sends bytes back, one connection after the other; prints "ready PORT"
 *   probe turns ADDRESS PORT COUNT                a byte there and back, so often; prints nanoseconds: taken, computed
 *   probe calls ADDRESS PORT COUNT                the same with a connection for each
 *   probe stream ADDRESS PORT                     sends a datagram every 20 microseconds until its input ends; prints
 *                                                 "ready PORT", and at its end how many it has sent
 *   probe beat PORT MS FROM TO...                 sends a datagram to each address TO every MS milliseconds until its input
 *                                                 ends; prints "ready PORT"
 *
 * Every answer of `serve` begins with a line "PEER-ADDRESS PEER-PORT LOCAL-ADDRESS LOCAL-PORT", as the server saw
 * it: that is what tests of address translation look at. A failed `ask` or `pour` prints the errno's name.
 *
 * "sctp" is one INIT and its INIT ACK (RFC 9260 section 3.3) on raw sockets, since test kernels often have no SCTP
 * sockets; that is all a packet filter or a translator needs to see. The header line travels as the state cookie.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static void fail(const char *what) {
  fprintf(stderr, "%s %s\n", strerrorname_np(errno), what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds that this process has computed; packets that it sends are carried on its account as far as they get. */
static uint64_t computed(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static union address parse(const char *text, const char *port) {
  union address a = {0};
  if (inet_pton(AF_INET, text, &a.v4.sin_addr) == 1) {
    a.v4.sin_family = AF_INET;
    a.v4.sin_port = htons((uint16_t)atoi(port));
  } else if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1) {
    a.v6.sin6_family = AF_INET6;
    a.v6.sin6_port = htons((uint16_t)atoi(port));
  } else {
    errno = EINVAL;
    fail(text);
  }
  return a;
}

static socklen_t size_of(const union address *a) {
  return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}

static int port_of(const union address *a) {
  return ntohs(a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

static void print_address(const union address *a, char *text) {
  const void *raw = a->any.sa_family == AF_INET ? (const void *)&a->v4.sin_addr : (const void *)&a->v6.sin6_addr;
  inet_ntop(a->any.sa_family, raw, text, INET6_ADDRSTRLEN);
}

static int describe(char *line, size_t size, const union address *peer, const union address *local) {
  char p[INET6_ADDRSTRLEN], l[INET6_ADDRSTRLEN];
  print_address(peer, p);
  print_address(local, l);
  return snprintf(line, size, "%s %d %s %d\n", p, port_of(peer), l, port_of(local));
}

static void write_all(int fd, const char *data, size_t length) {
  while (length > 0) {
    ssize_t n = write(fd, data, length);
    if (n < 0) fail("write");
    data += n;
    length -= (size_t)n;
  }
}

static int open_bound(const char *address, const char *port, int type, int protocol, union address *bound) {
  *bound = parse(address, port);
  int s = socket(bound->any.sa_family, type | SOCK_CLOEXEC, protocol), one = 1;
  if (s < 0) fail("socket");
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(s, &bound->any, size_of(bound)) < 0) fail("bind");
  socklen_t length = sizeof *bound;
  getsockname(s, &bound->any, &length);
  return s;
}

static void ready(int port) {
  printf("ready %d\n", port);
  fflush(stdout);
}

/* One child for each connection; they die with their parent. */
static int accept_in_child(int listener, union address *peer, union address *local) {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    socklen_t length = sizeof *peer;
    int c = accept(listener, &peer->any, &length);
    if (c < 0) continue;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(listener);
      length = sizeof *local;
      getsockname(c, &local->any, &length);
      return c;
    }
    close(c);
  }
}

static void serve_tcp(const char *address, const char *port) {
  union address bound, peer, local;
  int s = open_bound(address, port, SOCK_STREAM, 0, &bound);
  if (listen(s, 128) < 0) fail("listen");
  ready(port_of(&bound));
  int c = accept_in_child(s, &peer, &local);
  static char data[65536];
  write_all(c, data, (size_t)describe(data, sizeof data, &peer, &local));
  ssize_t n;
  while ((n = read(c, data, sizeof data)) > 0) write_all(c, data, (size_t)n);
}

/* Which of our addresses a datagram was sent to (IP_PKTINFO): the answer must come from it. */
static void take_local(struct msghdr *m, union address *local) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo *info = (struct in_pktinfo *)CMSG_DATA(c);
      local->v4.sin_addr = info->ipi_addr;
      info->ipi_ifindex = 0;
      info->ipi_spec_dst = info->ipi_addr;
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
      struct in6_pktinfo *info = (struct in6_pktinfo *)CMSG_DATA(c);
      local->v6.sin6_addr = info->ipi6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&info->ipi6_addr)) info->ipi6_ifindex = 0;
    }
  }
}

static void serve_udp(const char *address, const char *port) {
  union address bound, peer;
  static char data[65536], answer[66000];
  char control[256];
  int one = 1, s = open_bound(address, port, SOCK_DGRAM, 0, &bound);
  setsockopt(s, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
  setsockopt(s, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof one);
  ready(port_of(&bound));
  for (;;) {
    struct iovec in = {data, sizeof data};
    struct msghdr m = {&peer, sizeof peer, &in, 1, control, sizeof control, 0};
    ssize_t n = recvmsg(s, &m, 0);
    if (n < 0) continue;
    union address local = bound;
    take_local(&m, &local);
    int head = describe(answer, sizeof answer, &peer, &local);
    size_t body = (size_t)n < sizeof answer - (size_t)head ? (size_t)n : sizeof answer - (size_t)head;
    memcpy(answer + head, data, body);
    struct iovec out = {answer, (size_t)head + body};
    m.msg_iov = &out;
    sendmsg(s, &m, 0);
  }
}

static int connect_within(const union address *to, int type, const char *from, int ms) {
  int s = socket(to->any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
  if (s < 0) fail("socket");
  if (from != NULL) {
    union address mine = parse(from, "0");
    if (bind(s, &mine.any, size_of(&mine)) < 0) fail("bind");
  }
  if (connect(s, &to->any, size_of(to)) < 0 && errno != EINPROGRESS) fail("connect");
  struct pollfd p = {s, POLLOUT, 0};
  errno = ETIMEDOUT;
  if (poll(&p, 1, ms) <= 0) fail("connect");
  socklen_t length = sizeof error;
  getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length);
  if ((errno = error) != 0) fail("connect");
  return s;
}

static ssize_t read_within(int fd, char *data, size_t size, uint64_t deadline) {
  struct pollfd p = {fd, POLLIN, 0};
  int64_t left = (int64_t)(deadline - now()) / 1000000;
  errno = ETIMEDOUT;
  if (poll(&p, 1, left > 0 ? (int)left : 0) <= 0) fail("read");
  return read(fd, data, size);
}

/* The client sends no more than what the socket buffers of both ends take, so it need not read meanwhile. */
static void ask(int type, const union address *to, int ms, const char *from) {
  static char data[65536];
  size_t length = 0;
  ssize_t n;
  while (length < sizeof data && (n = read(0, data + length, sizeof data - length)) > 0) length += (size_t)n;
  uint64_t deadline = now() + (uint64_t)ms * 1000000u;
  int s = connect_within(to, type, from, ms);
  if (write(s, data, length) != (ssize_t)length) fail("write");
  if (type == SOCK_STREAM) shutdown(s, SHUT_WR);
  do {
    n = read_within(s, data, sizeof data, deadline);
    if (n < 0) fail("read");
    write_all(1, data, (size_t)n);
  } while (n > 0 && type == SOCK_STREAM);
}

/* CRC32c, least significant bit first (RFC 9260 appendix A). */
static uint32_t crc32c(const uint8_t *data, size_t length) {
  uint32_t crc = ~0u;
  while (length-- > 0) {
    crc ^= *data++;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1));
  }
  return ~crc;
}

struct init {
  uint16_t source, destination;
  uint32_t tag, checksum;
  uint8_t type, flags;
  uint16_t length;
  uint32_t initiate_tag, window;
  uint16_t out_streams, in_streams;
  uint32_t sequence;
  uint16_t cookie_type, cookie_length;
  char cookie[256];
} __attribute__((packed));

enum { INIT = 1, INIT_ACK = 2, STATE_COOKIE = 7, COMMON = 12, CHUNK = 20, PARAMETER = 4 };

static size_t compose(struct init *m, uint8_t type, int from, int to, uint32_t tag, const char *cookie) {
  size_t text = cookie == NULL ? 0 : strlen(cookie), extra = text == 0 ? 0 : PARAMETER + text;
  size_t total = COMMON + CHUNK + ((extra + 3) & ~(size_t)3);
  memset(m, 0, sizeof *m);
  *m = (struct init){.source = htons((uint16_t)from), .destination = htons((uint16_t)to), .tag = tag, .type = type,
                     .length = htons((uint16_t)(CHUNK + extra)), .initiate_tag = htonl(0x50570001),
                     .window = htonl(65536), .out_streams = htons(1), .in_streams = htons(1), .sequence = htonl(1)};
  if (text > 0) {
    m->cookie_type = htons(STATE_COOKIE);
    m->cookie_length = htons((uint16_t)extra);
    memcpy(m->cookie, cookie, text);
  }
  m->checksum = htole32(crc32c((uint8_t *)m, total));
  return total;
}

/* Raw IPv4 sockets deliver the IP header too; raw IPv6 sockets do not (raw(7)). */
static const struct init *strip(const char *data, ssize_t n, int family) {
  ssize_t header = family == AF_INET ? (data[0] & 15) * 4 : 0;
  return n - header < COMMON + CHUNK ? NULL : (const struct init *)(data + header);
}

static void serve_sctp(const char *address, const char *port) {
  union address bound, peer;
  static char data[65536];
  char line[256];
  struct init answer;
  int mine = atoi(port), s = open_bound(address, "0", SOCK_RAW, IPPROTO_SCTP, &bound);
  ready(mine);
  for (;;) {
    socklen_t length = sizeof peer;
    ssize_t n = recvfrom(s, data, sizeof data, 0, &peer.any, &length);
    const struct init *m = n > 0 ? strip(data, n, bound.any.sa_family) : NULL;
    if (m == NULL || m->type != INIT || ntohs(m->destination) != mine) continue;
    union address from = peer, local = bound;
    if (bound.any.sa_family == AF_INET) {
      from.v4.sin_port = m->source;
      local.v4.sin_port = m->destination;
      memcpy(&local.v4.sin_addr, data + 16, 4); /* destination address of the IP header */
      peer.v4.sin_port = 0;
    } else {
      from.v6.sin6_port = m->source;
      local.v6.sin6_port = m->destination;
      peer.v6.sin6_port = 0;
    }
    describe(line, sizeof line, &from, &local);
    size_t total = compose(&answer, INIT_ACK, mine, ntohs(m->source), m->initiate_tag, line);
    sendto(s, &answer, total, 0, &peer.any, size_of(&peer));
  }
}

static void ask_sctp(union address to, int port, int ms, const char *from) {
  static char data[65536];
  struct init init;
  int mine = 32768 + (getpid() & 16383), s = socket(to.any.sa_family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_SCTP);
  if (s < 0) fail("socket");
  if (from != NULL) {
    union address source = parse(from, "0");
    if (bind(s, &source.any, size_of(&source)) < 0) fail("bind");
  }
  uint64_t deadline = now() + (uint64_t)ms * 1000000u;
  size_t total = compose(&init, INIT, mine, port, 0, NULL);
  if (sendto(s, &init, total, 0, &to.any, size_of(&to)) < 0) fail("send");
  for (;;) {
    ssize_t n = read_within(s, data, sizeof data, deadline);
    const struct init *m = n > 0 ? strip(data, n, to.any.sa_family) : NULL;
    if (m == NULL || m->type != INIT_ACK || ntohs(m->destination) != mine || ntohs(m->source) != port) continue;
    write_all(1, m->cookie, ntohs(m->cookie_length) - PARAMETER);
    return;
  }
}

static void sink(const char *address, const char *port) {
  union address bound, peer, local;
  int s = open_bound(address, port, SOCK_STREAM, 0, &bound);
  if (listen(s, 16) < 0) fail("listen");
  ready(port_of(&bound));
  int c = accept_in_child(s, &peer, &local);
  static char data[1 << 18];
  uint64_t start = now(), bytes = 0;
  ssize_t n;
  while ((n = read(c, data, sizeof data)) > 0) bytes += (uint64_t)n;
  uint64_t time = now() - start;
  write_all(c, data, (size_t)sprintf(data, "%llu %llu %llu\n", (unsigned long long)bytes, (unsigned long long)time,
                                     (unsigned long long)computed()));
}

static void pour(const union address *to, size_t bytes) {
  static char data[1 << 16];
  int s = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0 || connect(s, &to->any, size_of(to)) < 0) fail("connect");
  for (size_t part; bytes > 0; bytes -= part) {
    part = bytes < sizeof data ? bytes : sizeof data;
    write_all(s, data, part);
  }
  shutdown(s, SHUT_WR);
  size_t length = 0;
  ssize_t n;
  while ((n = read(s, data + length, 256)) > 0 && length < 256) length += (size_t)n;
  if (n < 0) fail("read");
  data[length] = 0;
  unsigned long long received, time, theirs;
  errno = EPROTO;
  if (sscanf(data, "%llu %llu %llu", &received, &time, &theirs) != 3) fail("sink");
  printf("%llu %llu %llu\n", received, time, theirs + (unsigned long long)computed());
}

static void answer(const char *address, const char *port) {
  union address bound;
  int s = open_bound(address, port, SOCK_STREAM, 0, &bound), one = 1;
  if (listen(s, 128) < 0) fail("listen");
  ready(port_of(&bound));
  char data[64];
  for (;;) {
    int c = accept(s, NULL, NULL);
    if (c < 0) continue;
    setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ssize_t n;
    while ((n = read(c, data, sizeof data)) > 0 && write(c, data, (size_t)n) == n) {}
    close(c);
  }
}

static int connect_at_once(const union address *to) {
  int s = socket(to->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  if (s < 0 || connect(s, &to->any, size_of(to)) < 0) fail("connect");
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return s;
}

static void exchange_byte(int s) {
  char byte = 'x';
  if (write(s, &byte, 1) != 1 || read(s, &byte, 1) != 1) fail("turn");
}

/* A reset instead of a FIN: thousands of connections in TIME-WAIT would use up the ports. */
static void reset(int s) {
  struct linger hard = {1, 0};
  setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(s);
}

static void take_turns(const union address *to, int count, int connects) {
  int s = connects ? -1 : connect_at_once(to);
  if (!connects) exchange_byte(s);
  uint64_t start = now(), before = computed();
  for (int turn = 0; turn < count; turn++) {
    if (connects) s = connect_at_once(to);
    exchange_byte(s);
    if (connects) reset(s);
  }
  printf("%llu %llu\n", (unsigned long long)(now() - start), (unsigned long long)(computed() - before));
}

/* Not connected: what the other side answers (ICMP) is no error of the next datagram. */
static void stream(const union address *to) {
  int s = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0) fail("socket");
  struct pollfd input = {.fd = 0, .events = POLLIN};
  struct timespec pause = {.tv_nsec = 20000};
  uint64_t sent = 0;
  ready(port_of(to));
  while (ppoll(&input, 1, &pause, NULL) == 0)
    if (sendto(s, "x", 1, 0, &to->any, size_of(to)) == 1) sent++;
  printf("%llu\n", (unsigned long long)sent);
}

/* Without an answer, without a way: errors of one datagram are none of the next. */
static void beat(const char *port, int ms, const char *from, char **to, int count) {
  union address own = parse(from, "0");
  int s = socket(own.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0) fail("socket");
  if (bind(s, &own.any, size_of(&own)) < 0) fail("bind");
  struct pollfd input = {.fd = 0, .events = POLLIN};
  ready(atoi(port));
  do {
    for (int i = 0; i < count; i++) {
      union address each = parse(to[i], port);
      sendto(s, "x", 1, MSG_DONTWAIT, &each.any, size_of(&each));
    }
  } while (poll(&input, 1, ms) == 0);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char *mode = argc > 1 ? argv[1] : "";
  if (argc == 5 && strcmp(mode, "serve") == 0) {
    if (strcmp(argv[2], "tcp") == 0) serve_tcp(argv[3], argv[4]);
    else if (strcmp(argv[2], "udp") == 0) serve_udp(argv[3], argv[4]);
    else serve_sctp(argv[3], argv[4]);
  } else if (argc >= 6 && strcmp(mode, "ask") == 0) {
    const char *from = argc > 6 ? argv[6] : NULL;
    int sctp = strcmp(argv[2], "sctp") == 0;
    union address to = parse(argv[3], sctp ? "0" : argv[4]);
    if (sctp) ask_sctp(to, atoi(argv[4]), atoi(argv[5]), from);
    else ask(strcmp(argv[2], "tcp") == 0 ? SOCK_STREAM : SOCK_DGRAM, &to, atoi(argv[5]), from);
  } else if (argc == 4 && strcmp(mode, "sink") == 0) {
    sink(argv[2], argv[3]);
  } else if (argc == 5 && strcmp(mode, "pour") == 0) {
    union address to = parse(argv[2], argv[3]);
    pour(&to, (size_t)strtoull(argv[4], NULL, 10));
  } else if (argc == 4 && strcmp(mode, "stream") == 0) {
    union address to = parse(argv[2], argv[3]);
    stream(&to);
  } else if (argc >= 6 && strcmp(mode, "beat") == 0) {
    beat(argv[2], atoi(argv[3]), argv[4], argv + 5, argc - 5);
  } else if (argc == 4 && strcmp(mode, "answer") == 0) {
    answer(argv[2], argv[3]);
  } else if (argc == 5 && (strcmp(mode, "turns") == 0 || strcmp(mode, "calls") == 0)) {
    union address to = parse(argv[2], argv[3]);
    take_turns(&to, atoi(argv[4]), mode[0] == 'c');
  } else {
    fprintf(stderr, "EINVAL usage\n");
    return 2;
  }
  return 0;
}
