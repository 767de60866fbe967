/*
 * For a process of ours that containers can see in their PID namespace. One that may trace processes reaches whatever that
 * has: its root directory (/proc/PID/root), its rights. So it keeps neither.
 */
#include "hold.h"
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An empty file system that cannot be written, and no way back. /proc serves as a directory that every host has. */
static void leave_files(void) {
  if (unshare(CLONE_NEWNS) < 0) fail("make a mount namespace", "");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("make mounts private", "");
  if (mount("tmpfs", "/proc", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555") < 0)
    fail("mount an empty file system", "");
  if (chdir("/proc") < 0 || syscall(SYS_pivot_root, ".", ".") < 0) fail("change the root", "");
  if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) fail("leave the old root", "");
}

void drop_access(void) {
  leave_files();
  give_up_capabilities(0);
  /* Root gets capabilities back by starting a program, out of memory too; not after this. */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("set no_new_privs", "");
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
