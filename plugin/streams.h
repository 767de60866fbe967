/* Bytes in and out, the environment and the connection: what both plugins need of the system. As streams.ts. */
#ifndef PODWIRE_STREAMS_H
#define PODWIRE_STREAMS_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#define LITERAL(text) ((struct slice){text, sizeof(text) - 1})
struct slice {
  const char *start;
  size_t length;
};

ssize_t read_some(int fd, char *into, size_t room);

/* Reads to the end, or so many bytes. Returns how many they are, or -1. */
ssize_t read_all(int fd, char *into, size_t room);

/* Returns 0, or -1. */
int write_all(int fd, const char *bytes, size_t length);
int write_text(int fd, const char *text);

/* True for a pair of the environment that an agent is given; the rest of it may hold what is secret. */
int is_carried(const char *pair);

/* The name of an errno as in errno(3). */
const char *error_name(int error);

/*
 * Connects, and retries for so many seconds while no agent listens: it may be restarting. Where one listens and its
 * queue is full, connect() itself waits for a place; that is waiting for the answer, and only the caller knows how long
 * to. Returns 0, or -1.
 */
int connect_socket(int fd, const struct sockaddr_un *address, double seconds);

#endif
