/* A CNI result as the original prints it. As indent.ts. */
#ifndef PODWIRE_INDENT_H
#define PODWIRE_INDENT_H

#include "output.h"

/*
 * Writes an object that end_of_value() accepted with four blanks for each level, and with this `cniVersion`; that comes
 * last where the object has none. Strings are spelled as put_escaped() does, numbers and the order stay as they are.
 */
void put_indented(struct output *output, struct slice object, const char *version);

#endif
