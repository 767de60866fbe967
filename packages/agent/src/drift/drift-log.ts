/** What others have changed and this agent has put right, for people: the last of it, and counts. */
import { describeError } from '@podwire/errors';
import type { Change } from '@podwire/engine';
import { compact } from '@podwire/platform';
import type { EndpointRegistry } from '../endpoints/registry.js';
import { podName } from '../endpoints/registry.js';
import type { Log } from '../log.js';

/** How many are kept. */
const KEPT = 20;

export interface DriftEntry {
  /** RFC 3339 */
  readonly at: string;
  /** `default/web`, `node`, …; see {@link nameOwner}. */
  readonly owner: string;
  /** In words: `route 10.244.0.5/32 dev cali0123`. */
  readonly what: string;
  readonly action: Change['action'];
  /** Who has changed it, as far as the kernel tells. */
  readonly by?: string;
  readonly error?: string;
}

/** As `podwire status -o json` shows it. */
export interface DriftView {
  /** Whether events of the kernel are listened to; without that, drift is found in rounds. */
  readonly watching: boolean;
  readonly repaired: number;
  readonly failed: number;
  /** How often something was looked at because of an event. */
  readonly checks: number;
  /** How often the kernel had to drop events, and all of the node was looked at instead. */
  readonly lost: number;
  /** The last first. */
  readonly last: readonly DriftEntry[];
}

export interface DriftSources {
  readonly endpoints: EndpointRegistry;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
}

export class DriftLog {
  watching = false;
  checks = 0;
  lost = 0;
  readonly #sources: DriftSources;
  readonly #last: DriftEntry[] = [];
  /** Repaired and failed, by the first word of what it was. */
  readonly #counts = new Map<string, { repaired: number; failed: number }>();

  constructor(sources: DriftSources) {
    this.#sources = sources;
  }

  note(changes: readonly Change[], by: string | undefined): void {
    const { endpoints, clock, log } = this.#sources;
    for (const { owner, what, action, error } of changes) {
      const whose = nameOwner(endpoints, owner);
      this.#count(what, action);
      const facts = { of: whose, what, action, ...compact({ by, err: error }) };
      if (action === 'failed') log.error(facts, 'what others changed could not be repaired');
      else log.warn(facts, 'repaired what others changed');
      this.#last.unshift({
        ...{ at: new Date(clock()).toISOString(), owner: whose, what, action },
        ...compact({ by, error: error === undefined ? undefined : describeError(error) }),
      });
    }
    this.#last.splice(KEPT);
  }

  #count(what: string, action: Change['action']): void {
    const kind = what.split(' ', 1)[0]!;
    const counts = this.#counts.get(kind) ?? { repaired: 0, failed: 0 };
    counts[action === 'failed' ? 'failed' : 'repaired']++;
    this.#counts.set(kind, counts);
  }

  counts(): ReadonlyMap<string, { readonly repaired: number; readonly failed: number }> {
    return this.#counts;
  }

  view(): DriftView {
    const sum = (key: 'repaired' | 'failed'): number =>
      [...this.#counts.values()].reduce((total, counts) => total + counts[key], 0);
    const { watching, checks, lost } = this;
    return {
      watching,
      repaired: sum('repaired'),
      failed: sum('failed'),
      checks,
      lost,
      last: [...this.#last],
    };
  }
}

const ENDPOINT = 'endpoint:';
const SHORT_ID = 12;

/** How people call an owner of resources: the pod, or its container in short; `node`; a peer by its name. */
export function nameOwner(endpoints: EndpointRegistry, owner: string | undefined): string {
  if (owner === undefined) return 'leftover';
  if (!owner.startsWith(ENDPOINT)) return owner;
  const key = owner.slice(ENDPOINT.length);
  const record = endpoints.get(key);
  if (record === undefined) return key;
  return podName(record) ?? `container ${record.id.containerId.slice(0, SHORT_ID)}`;
}
