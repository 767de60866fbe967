/**
 * Something of the kernel's that is looked at every second: the underlay's link, the node's addresses. A link that is taken down loses its
 * IPv4 routes without a word (fib_disable_ip sends no RTM_DELROUTE), and those that lead to the pods of other nodes with them. A few
 * questions to the kernel cost less than hearing of every pod's link.
 */
import type { Clock, Log } from '@podwire/platform';

export interface StateWatch {
  /** Its name; undefined while it is not known. */
  readonly subject: () => string | undefined;
  /** Its state as a text; undefined while it cannot be used. */
  readonly read: (subject: string) => string | undefined;
  /** As it was when what is called out was last looked at; absent: what the first look sees. */
  readonly initial?: string;
  /** It is usable, and not the way it was. */
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Milliseconds between two looks. */
const interval = 1_000;

/** Resolves when the signal aborts. */
export async function watchState(watch: StateWatch): Promise<void> {
  const { clock, signal } = watch;
  const isEnded = (): Promise<boolean> =>
    clock.sleep(interval, signal).then(
      () => false,
      () => true,
    );
  let known = watch.initial;
  let isNew = known === undefined;
  let before: string | undefined;
  while (!(await isEnded())) {
    const subject = watch.subject();
    if (subject === undefined) continue;
    const now = readQuietly(watch, subject);
    if (isNew) known = now;
    else if (now === undefined) known = undefined;
    // Twice the same: a link is set up in steps.
    else if (now === before && now !== known) {
      known = now;
      watch.changed();
    }
    isNew = false;
    before = now;
  }
}

/** A failure to read is no reason to end: the reconcile finds the change in time. */
function readQuietly({ read, log }: StateWatch, subject: string): string | undefined {
  try {
    return read(subject);
  } catch (err) {
    log.debug({ err, subject }, 'the state could not be looked at');
    return undefined;
  }
}
