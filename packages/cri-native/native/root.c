/*
 * The file system of a container, in a mount namespace of its own: the given directory (or the host's root) as the lower
 * layer of an overlay, so that nothing is ever written to it, and whatever mount points are missing can be made.
 */
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Linux 5.2 and 5.12; the C library has no wrappers. */
#define OPEN_TREE_CLONE_ 1
#define AT_RECURSIVE_ 0x8000
#define MOVE_MOUNT_F_EMPTY_PATH_ 4
#define MOUNT_ATTR_RDONLY_ 1
struct mount_attributes {
  uint64_t set, clear, propagation, userns_fd;
};

static void mount_or_fail(const char *source, const char *target, const char *type, unsigned long flags, const char *data) {
  if (mount(source, target, type, flags, data) < 0) fail("mount", target);
}

static void make_directory(const char *path, mode_t mode) {
  if (mkdir(path, mode) < 0 && errno != EEXIST) fail("make directory", path);
}

/* mkdir -p; symbolic links on the way are followed, inside the root. */
static void make_directories(const char *path) {
  char text[4096];
  if (strlen(path) >= sizeof text) errno = ENAMETOOLONG, fail("make directory", path);
  strcpy(text, path);
  for (char *slash = strchr(text + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    make_directory(text, 0755);
    *slash = '/';
  }
  make_directory(text, 0755);
}

/* A copy of the mount at `source`, not attached anywhere: it can be changed, and attached after the root has changed. */
static int clone_tree(const char *source) {
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, source, OPEN_TREE_CLONE_ | O_CLOEXEC | AT_RECURSIVE_);
  if (fd < 0) fail("mount source", source);
  return fd;
}

static void change_tree(int fd, uint64_t set, uint64_t propagation, const char *subject) {
  struct mount_attributes attributes = {.set = set, .propagation = propagation};
  if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE_, &attributes, sizeof attributes) < 0)
    fail("set mount options", subject);
}

static void attach_tree(int fd, const char *target) {
  if (syscall(SYS_move_mount, fd, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH_) < 0) fail("mount", target);
  close(fd);
}

/* Options: `ro` or `rw`, then `,rslave` where mounts that the host makes later shall be seen. */
static int clone_source(const struct mount_request *request) {
  int fd = clone_tree(request->source);
  int read_only = strncmp(request->options, "ro", 2) == 0, slave = strstr(request->options, ",rslave") != NULL;
  change_tree(fd, read_only ? MOUNT_ATTR_RDONLY_ : 0, slave ? MS_SLAVE : MS_PRIVATE, request->source);
  return fd;
}

/* Makes what is missing for something to be mounted there. A link into nowhere (resolv.conf of systemd) is replaced. */
static void make_target(int source, const char *target) {
  struct stat what, there, link;
  if (fstat(source, &what) < 0) fail("look at the source of", target);
  if (stat(target, &there) == 0) return;
  if (lstat(target, &link) == 0 && unlink(target) < 0) fail("replace", target);
  if (S_ISDIR(what.st_mode)) {
    make_directories(target);
    return;
  }
  char parent[4096];
  snprintf(parent, sizeof parent, "%s", target);
  char *slash = strrchr(parent, '/');
  if (slash && slash != parent) *slash = 0, make_directories(parent);
  int fd = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) fail("make mount point", target);
  close(fd);
}

/*
 * `volatile`: the kernel need not write the upper layer to disk when the overlay goes, for it is deleted anyway. Where the
 * state directory cannot be an upper layer (it lies on an overlay itself, as in a container), memory is.
 */
static void mount_overlay(const struct spec *spec) {
  char options[128];
  int lower = open(spec->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (lower < 0) fail("open root directory", spec->root);
  /* By number, for a path may have the commas and colons that separate options. */
  snprintf(options, sizeof options, "lowerdir=/proc/self/fd/%d,upperdir=layer/upper,workdir=layer/work,volatile", lower);
  make_directory("root", 0755);
  make_directory("layer", 0700);
  make_directory("layer/upper", 0755), make_directory("layer/work", 0700);
  /* Devices are in /dev only: what a container makes elsewhere, or its image has, cannot be opened. */
  unsigned long flags = spec->privileged ? 0 : MS_NODEV;
  if (mount("overlay", "root", "overlay", flags, options) < 0) {
    mount_or_fail("tmpfs", "layer", "tmpfs", 0, "mode=0700");
    make_directory("layer/upper", 0755), make_directory("layer/work", 0700);
    mount_or_fail("overlay", "root", "overlay", flags, options);
  }
  close(lower);
}

static void enter_root(void) {
  if (chdir("root") < 0) fail("enter", "root");
  if (syscall(SYS_pivot_root, ".", ".") < 0) fail("change the root", "");
  if (umount2(".", MNT_DETACH) < 0) fail("leave the old root", "");
  if (chdir("/") < 0) fail("enter", "/");
}

static void make_device(const char *path, unsigned major_number, unsigned minor_number) {
  if (mknod(path, S_IFCHR | 0666, makedev(major_number, minor_number)) < 0) fail("make device", path);
}

static void make_link(const char *to, const char *path) {
  if (symlink(to, path) < 0 && errno != EEXIST) fail("make link", path);
}

static void make_devices(void) {
  mount_or_fail("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=0755,size=64k");
  make_device("/dev/null", 1, 3), make_device("/dev/zero", 1, 5), make_device("/dev/full", 1, 7);
  make_device("/dev/random", 1, 8), make_device("/dev/urandom", 1, 9), make_device("/dev/tty", 5, 0);
  make_link("/proc/self/fd", "/dev/fd"), make_link("/proc/self/fd/0", "/dev/stdin");
  make_link("/proc/self/fd/1", "/dev/stdout"), make_link("/proc/self/fd/2", "/dev/stderr");
  make_link("pts/ptmx", "/dev/ptmx");
}

/* `host_devices` is a copy of the host's /dev for privileged containers, or -1; `shm` the pod's shared memory. */
static void mount_devices(int host_devices, int shm) {
  make_directories("/dev");
  if (host_devices >= 0) attach_tree(host_devices, "/dev");
  else make_devices();
  make_directory("/dev/pts", 0755), make_directory("/dev/shm", 01777), make_directory("/dev/mqueue", 0755);
  mount_or_fail("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5");
  if (shm >= 0) attach_tree(shm, "/dev/shm");
  mount_or_fail("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL);
}

static void mount_kernel(const struct spec *spec) {
  unsigned long quiet = MS_NOSUID | MS_NOEXEC | MS_NODEV;
  make_directories("/proc"), make_directories("/sys");
  mount_or_fail("proc", "/proc", "proc", quiet, NULL);
  mount_or_fail("sysfs", "/sys", "sysfs", quiet | (spec->privileged ? 0 : MS_RDONLY), NULL);
}

static void cover(const char *path) {
  struct stat info;
  if (lstat(path, &info) < 0) return;
  if (S_ISDIR(info.st_mode)) mount_or_fail("tmpfs", path, "tmpfs", MS_RDONLY, "size=0k");
  else mount_or_fail("/dev/null", path, NULL, MS_BIND, NULL);
}

static void make_readonly(const char *path) {
  struct stat info;
  if (lstat(path, &info) < 0) return;
  int fd = clone_tree(path);
  change_tree(fd, MOUNT_ATTR_RDONLY_, 0, path);
  attach_tree(fd, path);
}

static void make_root_readonly(void) {
  struct mount_attributes attributes = {.set = MOUNT_ATTR_RDONLY_};
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attributes, sizeof attributes) < 0) fail("make read-only", "/");
}

/* Called by the process that will be the program, in the container's directory, in all namespaces but the mount one. */
void build_root(const struct spec *spec) {
  int sources[spec->mount_count + 1];
  umask(0); /* modes are meant as they stand here */
  if (unshare(CLONE_NEWNS) < 0) fail("make a mount namespace", "");
  mount_or_fail(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
  for (size_t i = 0; i < spec->mount_count; i++) sources[i] = clone_source(&spec->mounts[i]);
  int host_devices = spec->privileged ? clone_tree("/dev") : -1, shm = spec->shm ? clone_tree(spec->shm) : -1;
  mount_overlay(spec);
  enter_root();
  mount_kernel(spec);
  mount_devices(host_devices, shm);
  for (size_t i = 0; i < spec->mount_count; i++) {
    make_target(sources[i], spec->mounts[i].target);
    attach_tree(sources[i], spec->mounts[i].target);
  }
  for (size_t i = 0; i < spec->masked.count; i++) cover(spec->masked.list[i]);
  for (size_t i = 0; i < spec->readonly_paths.count; i++) make_readonly(spec->readonly_paths.list[i]);
  make_directories(spec->cwd);
  if (spec->readonly_root) make_root_readonly();
}
