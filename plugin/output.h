/* A stream of bytes that is counted or written, and texts in it as JSON has them. */
#ifndef PODWIRE_OUTPUT_H
#define PODWIRE_OUTPUT_H

#include "streams.h"

struct output {
  /* Where the bytes go; -1 to count them alone. */
  int fd;
  /* True once a write has failed. Nothing is written after that. */
  int failed;
  size_t count;
  /* How many of the bytes wait in the buffer. */
  size_t waiting;
  char buffer[16384];
};

void put(struct output *output, const char *bytes, size_t length);
void put_text(struct output *output, const char *text);
void put_slice(struct output *output, struct slice slice);
void put_number(struct output *output, size_t number);
void put_base64(struct output *output, struct slice bytes);

/*
 * Bytes as the inside of a JSON string, with the escapes of JSON.stringify and those of Go's encoding/json. What is not
 * UTF-8 becomes U+FFFD.
 */
void put_escaped(struct output *output, struct slice text);

/* The inside of a JSON string that end_of_string() accepted, spelled as put_escaped() does. */
void put_spelled(struct output *output, struct slice string);

/* Writes what waits. Returns 0, or -1 when this or an earlier write failed. */
int flush(struct output *output);

#endif
