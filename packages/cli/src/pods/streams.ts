/** This process's own streams as the ends of a container's. */
import type { TerminalSize } from '@podwire/cri-streaming';
import { onAbort } from '@podwire/platform';

/** Sizes of this terminal: now, and whenever it changes, until the signal. */
export async function* terminalSizes(signal: AbortSignal): AsyncIterable<TerminalSize> {
  const { stdout } = process;
  let wake = (): void => undefined;
  const changed = (): void => wake();
  stdout.on('resize', changed);
  const unsubscribe = onAbort(signal, changed);
  try {
    while (!signal.aborted) {
      yield { width: stdout.columns ?? 80, height: stdout.rows ?? 24 };
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stdout.off('resize', changed);
    unsubscribe();
  }
}

/** Keys go to the container one by one, Ctrl-C too; the terminal is as before whatever happens. */
export async function withRawTerminal<T>(wanted: boolean, work: () => Promise<T>): Promise<T> {
  const isRaw = wanted && process.stdin.isTTY;
  if (isRaw) process.stdin.setRawMode(true);
  try {
    return await work();
  } finally {
    if (isRaw) process.stdin.setRawMode(false);
    // A pipe that is still open must not keep this process; a file has nothing to let go of.
    (process.stdin as { unref?: () => void }).unref?.();
  }
}
