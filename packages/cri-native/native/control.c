/*
 * The control socket. Both directions carry frames: a type, a length of four bytes (big-endian), and the bytes. A
 * client that stays connected sees our end as the end of the connection.
 */
#include "hold.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEAD_BYTES = 5 };
struct client {
  int fd, attached;
  size_t length;
  unsigned char bytes[HEAD_BYTES + FRAME_BYTES];
};
static struct client clients[CLIENTS];
static size_t count;

/* In the working directory, so that a long path is no obstacle (108 bytes are all that an address has). */
int listen_control(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control"};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  unlink(address.sun_path);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, CLIENTS) < 0)
    fail("listen on", "control");
  return fd;
}

void accept_client(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (count == CLIENTS) {
    close(fd);
    return;
  }
  /* A client that does not read for so long is not waited for any more: the program's output must go on. */
  struct timeval patience = {.tv_sec = 5};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  clients[count++] = (struct client){.fd = fd};
}

size_t client_count(void) { return count; }
int client_fd(size_t index) { return clients[index].fd; }
void mark_attached(size_t index) { clients[index].attached = 1; }
int is_attached(size_t index) { return clients[index].attached; }

size_t attached_count(void) {
  size_t attached = 0;
  for (size_t i = 0; i < count; i++) attached += clients[i].attached != 0;
  return attached;
}

static void drop_client(size_t index) {
  close(clients[index].fd);
  count--;
  if (index != count) memcpy(&clients[index], &clients[count], sizeof *clients);
}

/* Tells who is attached that no more comes; who only watches is let go. */
void finish_clients(void) {
  for (size_t i = count; i-- > 0;)
    if (clients[i].attached) shutdown(clients[i].fd, SHUT_WR);
    else drop_client(i);
}

/* The length of the first frame with its head, 0 while it is not whole, -1 when there can be none. */
static ssize_t frame_length(const struct client *client) {
  if (client->length < HEAD_BYTES) return 0;
  const unsigned char *at = client->bytes + 1;
  uint32_t length = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
  if (length > FRAME_BYTES) return -1;
  return client->length >= HEAD_BYTES + length ? (ssize_t)(HEAD_BYTES + length) : 0;
}

int serve_client(size_t index, void (*take)(size_t index, struct frame frame)) {
  struct client *client = &clients[index];
  ssize_t received = recv(client->fd, client->bytes + client->length, sizeof client->bytes - client->length, MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
  if (received <= 0) return drop_client(index), 0;
  client->length += (size_t)received;
  for (ssize_t length; (length = frame_length(client)) != 0;) {
    if (length < 0) return drop_client(index), 0;
    take(index, (struct frame){(char)client->bytes[0], (uint32_t)length - HEAD_BYTES, client->bytes + HEAD_BYTES});
    client->length -= (size_t)length;
    memmove(client->bytes, client->bytes + length, client->length);
  }
  return 1;
}

void send_frame(size_t index, char type, const void *bytes, size_t length) {
  unsigned char head[HEAD_BYTES] = {(unsigned char)type, (unsigned char)(length >> 24), (unsigned char)(length >> 16),
                                    (unsigned char)(length >> 8), (unsigned char)length};
  int fd = clients[index].fd;
  ssize_t sent = send(fd, head, sizeof head, MSG_NOSIGNAL | MSG_MORE);
  for (const char *at = bytes; sent > 0 && length > 0; at += sent, length -= (size_t)sent) sent = send(fd, at, length, MSG_NOSIGNAL);
  /* Half a frame is of no use; the next look at this client finds the end. */
  if (sent < 0) shutdown(fd, SHUT_RDWR);
}

void send_output(char type, const void *bytes, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (clients[i].attached) send_frame(i, type, bytes, length);
}
