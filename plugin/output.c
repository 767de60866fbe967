#define _GNU_SOURCE
#include "output.h"

#include <string.h>

#include "json.h"

int flush(struct output *output) {
  if (output->fd >= 0 && !output->failed && write_all(output->fd, output->buffer, output->waiting) < 0)
    output->failed = 1;
  output->waiting = 0;
  return output->failed ? -1 : 0;
}

void put(struct output *output, const char *bytes, size_t length) {
  output->count += length;
  while (length > 0) {
    size_t room = sizeof output->buffer - output->waiting, part = length < room ? length : room;
    memcpy(output->buffer + output->waiting, bytes, part);
    output->waiting += part, bytes += part, length -= part;
    if (output->waiting == sizeof output->buffer) flush(output);
  }
}

void put_text(struct output *output, const char *text) { put(output, text, strlen(text)); }

void put_slice(struct output *output, struct slice slice) { put(output, slice.start, slice.length); }

void put_number(struct output *output, size_t number) {
  char digits[24], *at = digits + sizeof digits;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  put(output, at, (size_t)(digits + sizeof digits - at));
}

void put_base64(struct output *output, struct slice bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < bytes.length; at += 3) {
    size_t count = bytes.length - at < 3 ? bytes.length - at : 3;
    unsigned group = 0;
    for (size_t i = 0; i < 3; i++) group = group << 8 | (i < count ? (unsigned char)bytes.start[at + i] : 0);
    char text[4] = {digits[group >> 18], digits[group >> 12 & 63], count > 1 ? digits[group >> 6 & 63] : '=',
                    count > 2 ? digits[group & 63] : '='};
    put(output, text, sizeof text);
  }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/*
 * The length of the character at `at`. Where none is, minus the length of what becomes one U+FFFD, as in JavaScript: the
 * longest beginning of a character (Unicode, "substitution of maximal subparts").
 */
static int character_length(const char *at, const char *end) {
  unsigned char lead = (unsigned char)*at, lowest = 0x80, highest = 0xbf;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  if (lead == 0xe0) lowest = 0xa0;
  if (lead == 0xed) highest = 0x9f;
  if (lead == 0xf0) lowest = 0x90;
  if (lead == 0xf4) highest = 0x8f;
  int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (int i = 1; i < length; i++, lowest = 0x80, highest = 0xbf)
    if (at + i == end || (unsigned char)at[i] < lowest || (unsigned char)at[i] > highest) return -i;
  return length;
}

/* Go escapes what is special in HTML, and two ends of line of JavaScript. */
static void put_character(struct output *output, const char *at, size_t length) {
  static const char names[] = "bfnrt\"\\", values[] = "\b\f\n\r\t\"\\", hex[] = "0123456789abcdef";
  const char *value = memchr(values, *at, 7);
  if (value) put(output, (char[]){'\\', names[value - values]}, 2);
  else if ((*at >= 0 && *at < 0x20) || memchr("<>&", *at, 3))
    put(output, (char[]){'\\', 'u', '0', '0', hex[*at >> 4], hex[*at & 15]}, 6);
  else if (length == 3 && memcmp(at, "\u2028", 3) == 0) put_text(output, "\\u2028");
  else if (length == 3 && memcmp(at, "\u2029", 3) == 0) put_text(output, "\\u2029");
  else put(output, at, length);
}

/* Returns what follows the character. */
static const char *put_next(struct output *output, const char *at, const char *end) {
  int length = character_length(at, end);
  if (length > 0) put_character(output, at, (size_t)length);
  else put_text(output, "\ufffd");
  return at + (length > 0 ? length : -length);
}

void put_escaped(struct output *output, struct slice text) {
  const char *at = text.start, *end = text.start + text.length;
  while (at < end) at = put_next(output, at, end);
}

void put_spelled(struct output *output, struct slice string) {
  const char *at = string.start, *end = string.start + string.length;
  while (at < end) {
    char character[4];
    size_t length = 0;
    if (*at == '\\') at = unescape(at + 1, end, character, &length);
    else at = put_next(output, at, end);
    if (length > 0) put_character(output, character, length);
  }
}
