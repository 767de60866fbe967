#define _GNU_SOURCE
#include "failure.h"

#include <string.h>

struct output standard_output;

struct slice slice_of(const char *text) { return (struct slice){text, strlen(text)}; }

void begin_failure(int code) {
  put_text(&standard_output, "{\n    \"code\": ");
  put_number(&standard_output, (size_t)code);
  put_text(&standard_output, ",\n    \"msg\": \"");
}

void begin_details(void) { put_text(&standard_output, "\",\n    \"details\": \""); }

int end_failure(void) {
  put_text(&standard_output, "\"\n}");
  flush(&standard_output);
  return 1;
}

int fail_about(int code, const char *before, struct slice subject, const char *after) {
  begin_failure(code);
  put_escaped(&standard_output, slice_of(before));
  put_escaped(&standard_output, subject);
  put_escaped(&standard_output, slice_of(after));
  return end_failure();
}
