#define _GNU_SOURCE
#include "indent.h"

#include "json.h"

struct printing {
  struct output *output;
  const char *version;
  int depth;
  /* True once the version stands there. */
  int is_stated;
};

static void put_line(const struct printing *printing) {
  put_text(printing->output, "\n");
  for (int i = 0; i < printing->depth; i++) put_text(printing->output, "    ");
}

/* The key stands there. Returns what follows its value, which is replaced. */
static const char *put_version(struct printing *printing, const char *value, const char *end) {
  put_text(printing->output, ": \"");
  put_text(printing->output, printing->version);
  put_text(printing->output, "\"");
  printing->is_stated = 1;
  return value ? end_of_value(value, end, LEVELS) : NULL;
}

/* Writes the string at `at`. Returns what follows it. */
static const char *put_string(struct printing *printing, const char *at, const char *end) {
  struct slice string = {at + 1, (size_t)(end_of_string(at + 1, end) - at - 1)};
  put_text(printing->output, "\"");
  put_spelled(printing->output, string);
  put_text(printing->output, "\"");
  const char *after = string.start + string.length + 1, *colon = skip_space(after, end);
  if (printing->depth != 1 || *colon != ':' || !is_text(string, "cniVersion")) return after;
  return put_version(printing, colon + 1, end);
}

/* Writes what begins an object or array, or all of an empty one. Returns what follows that. */
static const char *put_begin(struct printing *printing, const char *at, const char *end) {
  const char *next = skip_space(at + 1, end);
  put(printing->output, at, 1);
  if (*next == '}' || *next == ']') return put(printing->output, next, 1), next + 1;
  printing->depth++;
  put_line(printing);
  return next;
}

static void put_end(struct printing *printing, const char *at) {
  printing->depth--;
  if (printing->depth == 0 && !printing->is_stated) {
    put_text(printing->output, ",\n    \"cniVersion\"");
    put_version(printing, NULL, NULL);
  }
  put_line(printing);
  put(printing->output, at, 1);
}

/* Writes what begins at `at`: a bracket, a string, or one byte of something else. Returns what follows it. */
static const char *put_token(struct printing *printing, const char *at, const char *end) {
  if (*at == '"') return put_string(printing, at, end);
  if (*at == '{' || *at == '[') return put_begin(printing, at, end);
  if (*at == '}' || *at == ']') return put_end(printing, at), at + 1;
  put(printing->output, at, 1);
  if (*at == ':') put_text(printing->output, " ");
  if (*at == ',') put_line(printing);
  return at + 1;
}

void put_indented(struct output *output, struct slice object, const char *version) {
  struct printing printing = {.output = output, .version = version};
  const char *end = object.start + object.length;
  for (const char *at = skip_space(object.start, end); at < end; at = skip_space(at, end))
    at = put_token(&printing, at, end);
}
