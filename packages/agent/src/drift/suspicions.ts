/** Owners that may have suffered, by the hint that leads to them; until they were looked at. */
import type { Hint, Lead, OwnerId } from '@podwire/engine';

export interface Suspicion {
  /** The first key of the hint. Repairs are counted by it. */
  readonly subject: string;
  readonly owners: Set<OwnerId>;
  /** Those that were not looked at yet. */
  readonly left: Set<OwnerId>;
  /** Something may be there that no owner wants. */
  leftover: boolean;
  /** In words. */
  by: string | undefined;
  /** A look has found something. */
  isRepaired: boolean;
}

const LOST = 'events that were lost';

export class Suspicions {
  readonly #bySubject = new Map<string, Suspicion>();

  get size(): number {
    return this.#bySubject.size;
  }

  /** @returns whether there is anything to look at */
  note({ keys, by }: Hint, { owners, leftover }: Lead): boolean {
    if (owners.size === 0 && !leftover) return false;
    const subject = keys[0] ?? LOST;
    const known = this.#bySubject.get(subject);
    if (known === undefined) {
      const both = { owners: new Set(owners), left: new Set(owners) };
      this.#bySubject.set(subject, { subject, ...both, leftover, by, isRepaired: false });
      return true;
    }
    for (const owner of owners) {
      known.owners.add(owner);
      known.left.add(owner);
    }
    known.leftover ||= leftover;
    known.by ??= by;
    return true;
  }

  /** In the order in which they came. */
  filter(isDue: (subject: string) => boolean): Suspicion[] {
    return [...this.#bySubject.values()].filter(({ subject }) => isDue(subject));
  }

  /** Everything that it led to was looked at. */
  settle({ subject }: Suspicion): void {
    this.#bySubject.delete(subject);
  }
}
