/* Reads an instruction: strings that end with NUL, a key and then as many values as the key has. */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cursor {
  char *at, *end;
};

static char *next_string(struct cursor *cursor) {
  char *text = cursor->at;
  if (text >= cursor->end) fail("the instruction ends within a key", "");
  cursor->at += strlen(text) + 1;
  return text;
}

/* Every list is as long as there are strings at most; the memory is never given back, for the program is short. */
static void append(struct strings *strings, char *text, size_t most) {
  if (!strings->list && !(strings->list = calloc(most + 1, sizeof *strings->list))) fail("out of memory", "");
  strings->list[strings->count++] = text;
}

static unsigned long long number(struct cursor *cursor, int base) {
  char *end, *text = next_string(cursor);
  errno = 0;
  unsigned long long value = strtoull(text, &end, base);
  if (errno || *end || end == text) fail("the instruction has no number", text);
  return value;
}

static void append_mount(struct spec *spec, struct cursor *cursor, size_t most) {
  if (!spec->mounts && !(spec->mounts = calloc(most, sizeof *spec->mounts))) fail("out of memory", "");
  struct mount_request *mount = &spec->mounts[spec->mount_count++];
  mount->options = next_string(cursor);
  mount->source = next_string(cursor);
  mount->target = next_string(cursor);
}

static void append_group(struct spec *spec, gid_t group, size_t most) {
  if (!spec->groups && !(spec->groups = calloc(most, sizeof *spec->groups))) fail("out of memory", "");
  spec->groups[spec->group_count++] = group;
}

static void take_key(struct spec *spec, const char *key, struct cursor *cursor, size_t most) {
#define IS(name) (strcmp(key, name) == 0)
  if (IS("netns")) spec->netns = next_string(cursor);
  else if (IS("hostname")) spec->hostname = next_string(cursor);
  else if (IS("pidMode")) spec->pid_mode = next_string(cursor);
  else if (IS("utsMode")) spec->uts_mode = next_string(cursor);
  else if (IS("ipcMode")) spec->ipc_mode = next_string(cursor);
  else if (IS("holder")) spec->holder = (long)number(cursor, 10), spec->holder_start = number(cursor, 10);
  else if (IS("pidHolder")) spec->pid_holder = (long)number(cursor, 10), spec->pid_holder_start = number(cursor, 10);
  else if (IS("init")) spec->init = (long)number(cursor, 10), spec->init_start = number(cursor, 10);
  else if (IS("root")) spec->root = next_string(cursor);
  else if (IS("shm")) spec->shm = next_string(cursor);
  else if (IS("readonlyRoot")) spec->readonly_root = 1;
  else if (IS("privileged")) spec->privileged = 1;
  else if (IS("mount")) append_mount(spec, cursor, most);
  else if (IS("masked")) append(&spec->masked, next_string(cursor), most);
  else if (IS("readonly")) append(&spec->readonly_paths, next_string(cursor), most);
  else if (IS("sysctl")) append(&spec->sysctls, next_string(cursor), most), append(&spec->sysctls, next_string(cursor), most);
  else if (IS("arg")) append(&spec->argv, next_string(cursor), most);
  else if (IS("env")) append(&spec->env, next_string(cursor), most);
  else if (IS("cwd")) spec->cwd = next_string(cursor);
  else if (IS("user")) spec->uid = (uid_t)number(cursor, 10), spec->gid = (gid_t)number(cursor, 10);
  else if (IS("group")) append_group(spec, (gid_t)number(cursor, 10), most);
  else if (IS("capabilities")) spec->capabilities = number(cursor, 16);
  else if (IS("noNewPrivileges")) spec->no_new_privileges = 1;
  else if (IS("tty")) spec->tty = 1;
  else if (IS("size")) spec->rows = (unsigned short)number(cursor, 10), spec->columns = (unsigned short)number(cursor, 10);
  else if (IS("log")) spec->log = next_string(cursor);
  else if (IS("stdin")) spec->has_stdin = 1;
  else if (IS("stdinOnce")) spec->stdin_once = 1;
  else fail("the instruction has an unknown key", key);
#undef IS
}

static char *read_whole(const char *file, size_t *length) {
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) < 0) fail("open the instruction", file);
  char *bytes = calloc(1, (size_t)info.st_size + 1);
  if (!bytes) fail("out of memory", "");
  for (*length = 0; *length < (size_t)info.st_size;) {
    ssize_t count = read(fd, bytes + *length, (size_t)info.st_size - *length);
    if (count <= 0) fail("read the instruction", file);
    *length += (size_t)count;
  }
  close(fd);
  return bytes;
}

struct spec read_spec(const char *file) {
  struct spec spec = {.pid_mode = "own", .uts_mode = "pod", .ipc_mode = "pod", .cwd = "/"};
  size_t length, most = 1;
  char *bytes = read_whole(file, &length);
  for (size_t i = 0; i < length; i++) most += bytes[i] == 0;
  struct cursor cursor = {bytes, bytes + length};
  while (cursor.at < cursor.end) take_key(&spec, next_string(&cursor), &cursor, most);
  return spec;
}
