#define _GNU_SOURCE
#include "json.h"

#include <string.h>

_Static_assert(LEVELS == 64, "NO_OBJECT says how many");

const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

/* ---- strings ---------------------------------------------------------------------------------------------------- */

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/* The code unit of the four digits at `at`, or -1. */
static long hex_unit(const char *at, const char *end) {
  if (end - at < 4) return -1;
  long unit = 0;
  for (int i = 0; i < 4; i++) {
    if (hex_value(at[i]) < 0) return -1;
    unit = unit * 16 + hex_value(at[i]);
  }
  return unit;
}

const char *end_of_string(const char *at, const char *end) {
  for (; at < end; at++) {
    if (*at == '"') return at;
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at != '\\') continue;
    if (++at == end || !memchr("\"\\/bfnrtu", *at, 9)) return NULL;
    if (*at == 'u' && hex_unit(at + 1, end) < 0) return NULL;
  }
  return NULL;
}

static size_t utf8(long point, char *out) {
  if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd; /* half a surrogate pair */
  if (point < 0x80) return out[0] = (char)point, 1;
  if (point < 0x800) return out[0] = (char)(0xc0 | point >> 6), out[1] = (char)(0x80 | (point & 63)), 2;
  size_t lead = point < 0x10000 ? 0 : 1;
  if (lead) out[0] = (char)(0xf0 | point >> 18);
  out[lead] = (char)(lead ? 0x80 | (point >> 12 & 63) : 0xe0 | point >> 12);
  out[lead + 1] = (char)(0x80 | (point >> 6 & 63));
  out[lead + 2] = (char)(0x80 | (point & 63));
  return lead + 3;
}

const char *unescape(const char *at, const char *end, char *out, size_t *size) {
  static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
  const char *name = memchr(names, *at, 5);
  if (*at != 'u') return *out = name ? values[name - names] : *at, *size = 1, at + 1;
  long point = hex_unit(at + 1, end);
  at += 5;
  if (point >= 0xd800 && point < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    long low = hex_unit(at + 2, end);
    if (low >= 0xdc00 && low < 0xe000) point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00), at += 6;
  }
  return *size = utf8(point, out), at;
}

size_t decode(struct slice text, char *into, size_t room) {
  const char *at = text.start, *end = text.start + text.length;
  size_t length = 0;
  while (at < end) {
    char character[4];
    size_t size = 1;
    if (*at == '\\') at = unescape(at + 1, end, character, &size);
    else character[0] = *at++;
    if (length + size >= room) return room;
    memcpy(into + length, character, size);
    length += size;
  }
  return length;
}

int is_text(struct slice string, const char *name) {
  char text[16];
  size_t length = decode(string, text, sizeof text);
  return length == strlen(name) && memcmp(text, name, length) == 0;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static const char *skip_digits(const char *at, const char *end) {
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at;
}

/* Each part of a number (§6) has a digit, and a first part that begins with 0 has no other one. */
static const char *end_of_number(const char *at, const char *end) {
  if (at < end && *at == '-') at++;
  const char *part = at;
  at = skip_digits(part, end);
  if (at == part || (*part == '0' && at - part > 1)) return NULL;
  if (at < end && *at == '.') {
    part = at + 1;
    at = skip_digits(part, end);
    if (at == part) return NULL;
  }
  if (at == end || (*at != 'e' && *at != 'E')) return at;
  at++;
  if (at < end && (*at == '+' || *at == '-')) at++;
  part = at;
  at = skip_digits(part, end);
  return at == part ? NULL : at;
}

static const char *end_of_word(const char *at, const char *end) {
  static const struct slice words[] = {{"true", 4}, {"false", 5}, {"null", 4}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if ((size_t)(end - at) >= words[i].length && memcmp(at, words[i].start, words[i].length) == 0)
      return at + words[i].length;
  return end_of_number(at, end);
}

/* The end of a key and its colon. */
static const char *end_of_key(const char *at, const char *end) {
  at = skip_space(at, end);
  if (at == end || *at != '"') return NULL;
  at = end_of_string(at + 1, end);
  if (!at) return NULL;
  at = skip_space(at + 1, end);
  return at < end && *at == ':' ? at + 1 : NULL;
}

/* The end of the object or array at `at`, whose values may have so many levels. */
static const char *end_of_list(const char *at, const char *end, int levels) {
  char close = *at == '{' ? '}' : ']';
  at = skip_space(at + 1, end);
  if (at < end && *at == close) return at + 1;
  for (;;) {
    if (close == '}') at = end_of_key(at, end);
    if (at) at = end_of_value(at, end, levels);
    if (!at) return NULL;
    at = skip_space(at, end);
    if (at == end || (*at != close && *at != ',')) return NULL;
    if (*at++ == close) return at;
  }
}

const char *end_of_value(const char *at, const char *end, int levels) {
  at = skip_space(at, end);
  if (at == end) return NULL;
  if (*at == '{' || *at == '[') return levels > 0 ? end_of_list(at, end, levels - 1) : NULL;
  if (*at != '"') return end_of_word(at, end);
  at = end_of_string(at + 1, end);
  return at ? at + 1 : NULL;
}

int is_object(struct slice document) {
  const char *end = document.start + document.length;
  const char *at = skip_space(document.start, end);
  if (at == end || *at != '{') return 0;
  at = end_of_value(at, end, LEVELS);
  return at && skip_space(at, end) == end;
}

struct slice find_member(struct slice object, const char *name) {
  const char *end = object.start + object.length;
  const char *at = skip_space(skip_space(object.start, end) + 1, end);
  struct slice found = {NULL, 0};
  while (*at != '}') {
    struct slice key = {at + 1, (size_t)(end_of_string(at + 1, end) - at - 1)};
    const char *value = skip_space(end_of_key(at, end), end);
    at = end_of_value(value, end, LEVELS);
    if (is_text(key, name)) found = (struct slice){value, (size_t)(at - value)};
    at = skip_space(at, end);
    if (*at == ',') at = skip_space(at + 1, end);
  }
  return found;
}

struct slice next_item(struct slice list, struct slice item) {
  const char *end = list.start + list.length;
  const char *at = skip_space(item.start ? item.start + item.length : list.start + 1, end);
  if (item.start && *at == ',') at = skip_space(at + 1, end);
  if (*at == ']') return (struct slice){NULL, 0};
  return (struct slice){at, (size_t)(end_of_value(at, end, LEVELS) - at)};
}
