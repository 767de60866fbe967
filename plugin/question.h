/* A request to a node of Kube-OVN: from the configuration and the environment to its body. */
#ifndef PODWIRE_QUESTION_H
#define PODWIRE_QUESTION_H

#include "output.h"

/* The error code of the original for whatever does not come from Go's library of CNI. */
enum { CODE_FAILED = 999 };

/* Texts that are asked with: the inside of JSON strings of the configuration, but for the pod, which is plain text. */
struct question {
  struct slice type, socket, provider, device, driver, pod, namespace;
  /* A list; its start is NULL where there is none. */
  struct slice routes;
};

/* A variable of the environment; empty where there is none. */
const char *variable(const char *name);

/* Reads a configuration that is_object() accepted, and CNI_ARGS. Returns 0, or the exit code after an error. */
int read_question(struct slice config, struct question *question);

/* Writes the body of the request. The keys come in the order of the original's client, which sorts them. */
void put_question(struct output *output, const struct question *question);

#endif
