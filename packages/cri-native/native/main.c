#include "hold.h"
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static const char usage[] = "podwire-hold is started by Podwire's embedded runtime.\n";
  /*
   * Without CAP_SYS_PTRACE a container then sees nothing of a process of ours below /proc/PID: neither its root directory nor
   * its executable, which is the host's file. Starting the container's program ends this.
   */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (count != 3) return write_all(STDERR_FILENO, usage, sizeof usage - 1), 2;
  /* No descriptor that our parent left open may get into a container. */
  syscall(SYS_close_range, ALIVE_FD + 1, ~0U, 0);
  if (strcmp(arguments[1], "sandbox") == 0) return hold_sandbox(arguments[2]);
  if (strcmp(arguments[1], "container") == 0) return run_container(arguments[2]);
  if (strcmp(arguments[1], "exec") == 0) return run_exec(arguments[2]);
  return write_all(STDERR_FILENO, usage, sizeof usage - 1), 2;
}
