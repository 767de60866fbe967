#define _GNU_SOURCE
#include "http.h"

#include <string.h>
#include <strings.h>

/* As much of an answer as came. Its head is whole where `body` is set. */
struct received {
  const char *bytes;
  size_t length;
  const char *body;
  /* The length of the body as the head states it, `LIMIT + 1` for more than that, -1 without one. */
  long stated;
  int is_chunked;
  /* True when this cannot become a head of HTTP/1.1. */
  int is_other;
};

/* The value of a header, its start is NULL where there is none. The first of several counts. */
static struct slice find_header(const struct received *received, const char *name) {
  const char *end = received->body - 2, *at = received->bytes;
  size_t length = strlen(name);
  while ((at = memmem(at, (size_t)(end - at), "\r\n", 2)) && (at += 2) < end) {
    if ((size_t)(end - at) < length || strncasecmp(at, name, length) != 0) continue;
    const char *close = memmem(at, (size_t)(received->body - at), "\r\n", 2);
    for (at += length; at < close && (*at == ' ' || *at == '\t');) at++;
    while (close > at && (close[-1] == ' ' || close[-1] == '\t')) close--;
    return (struct slice){at, (size_t)(close - at)};
  }
  return (struct slice){NULL, 0};
}

/* A number of bytes, `LIMIT + 1` for more than that, -1 if it is no number. */
static long read_length(struct slice digits) {
  long length = 0;
  for (size_t i = 0; i < digits.length; i++) {
    if (digits.start[i] < '0' || digits.start[i] > '9') return -1;
    length = length * 10 + digits.start[i] - '0';
    if (length > LIMIT) length = LIMIT + 1;
  }
  return digits.length > 0 ? length : -1;
}

/* "HTTP/1.1 200 OK"; the reason may be missing. */
static int is_status_line(const char *line) {
  if (memcmp(line, "HTTP/1.1 ", 9) != 0 && memcmp(line, "HTTP/1.0 ", 9) != 0) return 0;
  for (int i = 9; i < 12; i++)
    if (line[i] < '0' || line[i] > '9') return 0;
  return line[12] == ' ' || memcmp(line + 12, "\r\n", 2) == 0;
}

/* A connection may stay open after it, so its end must not be waited for (RFC 9112 §6.3). */
static int is_without_body(const char *line) { return memcmp(line + 9, "204", 3) == 0; }

static void read_head(struct received *received) {
  static const char beginning[] = "HTTP/1.";
  size_t known = received->length < 7 ? received->length : 7;
  size_t searched = received->length < HEAD_LIMIT ? received->length : HEAD_LIMIT;
  const char *end = memmem(received->bytes, searched, "\r\n\r\n", 4);
  received->is_other = memcmp(received->bytes, beginning, known) != 0 || (!end && searched == HEAD_LIMIT);
  if (received->is_other || !end) return;
  received->body = end + 4;
  struct slice length = find_header(received, "content-length:");
  received->stated = length.start ? read_length(length) : -1;
  received->is_other = !is_status_line(received->bytes) || (length.start && received->stated < 0);
  if (is_without_body(received->bytes)) received->stated = 0;
  received->is_chunked = find_header(received, "transfer-encoding:").start != NULL;
}

static size_t body_length(const struct received *received) {
  return received->length - (size_t)(received->body - received->bytes);
}

static int is_decided(const struct received *received) {
  if (received->is_other || received->is_chunked) return 1;
  return received->body && body_length(received) >= (size_t)(received->stated < 0 ? LIMIT + 1 : received->stated);
}

/* Returns how the connection ended: 0, or -1 when it broke. */
static int receive(int fd, struct received *received) {
  static char bytes[HEAD_LIMIT + LIMIT + 1];
  *received = (struct received){.bytes = bytes, .stated = -1};
  while (!is_decided(received)) {
    ssize_t count = read_some(fd, bytes + received->length, sizeof bytes - received->length);
    if (count <= 0) return (int)count;
    received->length += (size_t)count;
    if (!received->body) read_head(received);
  }
  return 0;
}

struct answer receive_answer(int fd) {
  struct received received;
  int ended = receive(fd, &received);
  if (received.length == 0) return (struct answer){.failure = "failed to send CNI request: socket hang up"};
  if (received.is_other || !received.body)
    return (struct answer){.failure = "failed to send CNI request: the answer has no HTTP head"};
  if (received.is_chunked)
    return (struct answer){.failure = "failed to read CNI result: a Transfer-Encoding is not understood"};
  size_t came = body_length(&received), length = received.stated < 0 ? came : (size_t)received.stated;
  if (came < length || (received.stated < 0 && ended < 0))
    return (struct answer){.failure = "failed to read CNI result: aborted"};
  if (length > LIMIT) return (struct answer){.failure = "failed to read CNI result: it is longer than " LIMIT_TEXT};
  struct answer answer = {.body = {received.body, length}};
  memcpy(answer.status, received.bytes + 9, 3);
  return answer;
}
