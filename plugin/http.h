/* The answer to a request of HTTP/1.1, with nothing of HTTP that the nodes do not use. As http.ts. */
#ifndef PODWIRE_HTTP_H
#define PODWIRE_HTTP_H

#include "streams.h"

/* Of the body and of the head, in bytes. */
#define LIMIT (1024 * 1024)
#define LIMIT_TEXT "1048576 bytes"
#define HEAD_LIMIT (16 * 1024)

struct answer {
  /* NULL if the answer is whole; the other fields are set then. */
  const char *failure;
  char status[4];
  struct slice body;
};

/* Reads an answer until what is still to come makes no difference. */
struct answer receive_answer(int fd);

#endif
