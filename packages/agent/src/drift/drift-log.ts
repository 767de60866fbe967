/** The repairs of this agent, for people: the last of them, and counts. */
import { describeError } from '@podwire/errors';
import type { Change, Place } from '@podwire/engine';
import { compact } from '@podwire/platform';
import { endpointOfOwner } from '../endpoints/owners.js';
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
  /** The program that changed it, as far as that is known. */
  readonly by?: string;
  /** The repair interrupted traffic. */
  readonly gap?: true;
  readonly error?: string;
}

/** As `podwire status -o json` shows it. */
export interface DriftView {
  /** Changes on the node are listened to; without that, drift is found in rounds. */
  readonly watching: boolean;
  /** The same for changes in pods. */
  readonly pods: boolean;
  readonly repaired: number;
  readonly failed: number;
  /** How often something was looked at because of a hint. */
  readonly checks: number;
  /** How often hints were dropped, as too many had come, and everything in their place was looked at instead. */
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
  /** Places in which changes are listened to. */
  readonly watched = new Set<Place>();
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
    for (const { owner, what, action, gap, error } of changes) {
      const whose = nameOwner(endpoints, owner);
      this.#count(what, action);
      const facts = { of: whose, what, action, ...compact({ by, gap, err: error }) };
      if (action === 'failed') log.error(facts, 'what others changed could not be repaired');
      else log.warn(facts, 'repaired what others changed');
      this.#last.unshift({
        ...{ at: new Date(clock()).toISOString(), owner: whose, what, action },
        ...compact({ by, gap, error: error === undefined ? undefined : describeError(error) }),
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
    const { watched, checks, lost } = this;
    return {
      watching: watched.has('host'),
      pods: watched.has('pod'),
      repaired: sum('repaired'),
      failed: sum('failed'),
      checks,
      lost,
      last: [...this.#last],
    };
  }
}

const SHORT_ID = 12;

/** How people call an owner of resources: the pod, or its container in short; `node`; a peer by its name. */
export function nameOwner(endpoints: EndpointRegistry, owner: string | undefined): string {
  if (owner === undefined) return 'leftover';
  const key = endpointOfOwner(owner);
  if (key === undefined) return owner;
  const record = endpoints.get(key);
  if (record === undefined) return key;
  return podName(record) ?? `container ${record.id.containerId.slice(0, SHORT_ID)}`;
}
