/* The channel between a shim and the process that becomes the program: messages, credentials and descriptors. */
#include "hold.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void open_channel(int ends[2]) {
  int on = 1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) fail("make a channel", "");
  /* The kernel translates the sender's pid into our namespace; after a minder's fork there is no other way to know it. */
  if (setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) fail("make a channel", "");
}

void tell_ready(int channel, int terminal) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec text = {"ready", 5};
  struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
  if (terminal >= 0) {
    message.msg_control = control.bytes, message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &terminal, sizeof terminal);
  }
  if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0) _exit(1); /* the shim is dead */
}

void tell_status(int channel, int status) {
  char text[32];
  int length = snprintf(text, sizeof text, "status %d", status);
  send(channel, text, (size_t)length, MSG_NOSIGNAL);
}

static void read_control(struct msghdr *message, struct news *news) {
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    struct ucred sender;
    if (header->cmsg_type == SCM_RIGHTS) memcpy(&news->terminal, CMSG_DATA(header), sizeof news->terminal);
    if (header->cmsg_type == SCM_CREDENTIALS) memcpy(&sender, CMSG_DATA(header), sizeof sender), news->pid = sender.pid;
  }
}

/* Waits for the next message. */
struct news hear(int channel) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
  } control;
  struct news news = {.kind = NEWS_NONE, .terminal = -1};
  struct iovec text = {news.text, sizeof news.text - 1};
  struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t length;
  do length = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return news.kind = NEWS_END, news;
  news.text[length] = 0;
  read_control(&message, &news);
  if (strcmp(news.text, "ready") == 0) news.kind = NEWS_READY;
  else if (sscanf(news.text, "status %d", &news.status) == 1) news.kind = NEWS_STATUS;
  else news.kind = NEWS_ERROR;
  return news;
}
