/* JSON (RFC 8259) without a tree: slices of the document, which is never copied. Strings as in scan.ts. */
#ifndef PODWIRE_JSON_H
#define PODWIRE_JSON_H

#include "streams.h"

/* How deep a document may be for end_of_value(). */
#define LEVELS 64
#define NO_OBJECT "a JSON object of at most 64 levels is needed"

const char *skip_space(const char *at, const char *end);

/*
 * The closing quote of the string whose text begins at `at`, NULL if it is no JSON string (§7). Only strings that pass
 * are ever copied into an output, so that one stays well-formed whatever the input was.
 */
const char *end_of_string(const char *at, const char *end);

/* Reads the escape after a backslash into `out` (at most 4 bytes, `size` says how many); returns what follows it. */
const char *unescape(const char *at, const char *end, char *out, size_t *size);

/* Writes the text of a string that end_of_string() accepted; returns its length, or `room` when it does not fit. */
size_t decode(struct slice text, char *into, size_t room);

/* True if the text of a string that end_of_string() accepted is `name`, of at most 15 bytes. */
int is_text(struct slice string, const char *name);

/* The end of the value at `at`; NULL when none of at most so many levels is there. */
const char *end_of_value(const char *at, const char *end, int levels);

/* True if the document is an object; NO_OBJECT says what is needed. */
int is_object(struct slice document);

/*
 * The value of that member of an object that end_of_value() accepted; of several the last. It begins with its first
 * byte, and is nothing where there is no such member.
 */
struct slice find_member(struct slice object, const char *name);

/*
 * The item after this one in a list that end_of_value() accepted; the first one after nothing. It is nothing at the end.
 */
struct slice next_item(struct slice list, struct slice item);

#endif
