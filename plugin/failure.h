/* Errors as Go's library of CNI prints them, on standard output. As failure.ts. */
#ifndef PODWIRE_FAILURE_H
#define PODWIRE_FAILURE_H

#include "output.h"

/* main() sets its descriptor. */
extern struct output standard_output;

struct slice slice_of(const char *text);

/* Writes up to the message, which the caller writes next. */
void begin_failure(int code);

/* Ends the message, and begins the details, which the caller writes next. */
void begin_details(void);

/* Ends what was begun last. Returns the exit code. */
int end_failure(void);

/* Prints an error with a message of three parts. Returns the exit code. */
int fail_about(int code, const char *before, struct slice subject, const char *after);

#endif
