#define _GNU_SOURCE
#include "version.h"

#include "failure.h"
#include "json.h"

enum { CODE_INCOMPATIBLE = 1 };

/* `version` is the inside of a JSON string. */
static int fail_version(struct slice version, const struct versions *known) {
  begin_failure(CODE_INCOMPATIBLE);
  put_text(&standard_output, "incompatible CNI versions");
  begin_details();
  put_text(&standard_output, "config is \\\"");
  put_spelled(&standard_output, version);
  put_escaped(&standard_output, LITERAL("\", plugin supports "));
  put_escaped(&standard_output, slice_of(known->shown));
  return end_failure();
}

int check_version(struct slice config, const struct versions *known, int undecodable, const char **version) {
  struct slice stated = find_member(config, "cniVersion");
  *version = "0.1.0";
  if (!stated.start || *stated.start == 'n') return 0;
  if (*stated.start != '"')
    return fail_about(undecodable, "decoding version from network config: `", LITERAL("cniVersion"), "` is no string");
  struct slice text = {stated.start + 1, stated.length - 2};
  if (text.length == 0) return 0;
  for (const char *const *name = known->names; *name; name++)
    if (is_text(text, *name)) return *version = *name, 0;
  return fail_version(text, known);
}
