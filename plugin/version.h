/* The version of a network configuration. As version.ts. */
#ifndef PODWIRE_VERSION_H
#define PODWIRE_VERSION_H

#include "streams.h"

struct versions {
  /* The last one is NULL. */
  const char *const *names;
  /* All of them as Go prints a list of quoted texts. */
  const char *shown;
};

/*
 * Finds the version of a configuration that is_object() accepted, which it may leave out. Returns 0, or the exit code
 * after an error; `undecodable` is the error code for a version that is no text.
 */
int check_version(struct slice config, const struct versions *known, int undecodable, const char **version);

#endif
