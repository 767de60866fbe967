/**
 * The underlay's link, looked at every second. A link that is taken down loses its IPv4 routes without a word (fib_disable_ip sends no
 * RTM_DELROUTE), and those that lead to the pods of other nodes with them. Two questions to the kernel for one link cost less than hearing of every pod's.
 */
import type { Clock, Log } from '@podwire/rim';

export interface UnderlayWatch {
  /** The link's name; undefined while it is not known. */
  readonly link: () => string | undefined;
  /** Its state as a text; undefined while it cannot be used. */
  readonly read: (link: string) => string | undefined;
  /** It is usable, and not the way it was. */
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Milliseconds between two looks. */
const interval = 1_000;

/** Resolves when the signal aborts. */
export async function watchUnderlay(watch: UnderlayWatch): Promise<void> {
  const { clock, signal } = watch;
  const isEnded = (): Promise<boolean> =>
    clock.sleep(interval, signal).then(
      () => false,
      () => true,
    );
  let known: string | undefined;
  let isNew = true;
  let before: string | undefined;
  while (!(await isEnded())) {
    const link = watch.link();
    if (link === undefined) continue;
    const now = readQuietly(watch, link);
    if (isNew) known = now;
    else if (now === undefined) known = undefined;
    // Twice the same: whoever sets up a link does it in steps.
    else if (now === before && now !== known) {
      known = now;
      watch.changed();
    }
    isNew = false;
    before = now;
  }
}

/** What cannot be read is no reason to end: the reconcile finds it in time. */
function readQuietly({ read, log }: UnderlayWatch, link: string): string | undefined {
  try {
    return read(link);
  } catch (err) {
    log.debug({ err, link }, 'the link to other nodes could not be looked at');
    return undefined;
  }
}
