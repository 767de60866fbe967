/**
 * Repairs at once what others change, as backends hint at it. Hints are read a few times a second and not as they come: an
 * ADD causes some twenty events, and must not wait for them. Each place has a watch of its own: what pods do costs the
 * node's repair nothing. See docs/decisions/0036 and 0064.
 */
import { setImmediate } from 'node:timers/promises';
import type { Change, Changes, Hint, OwnerId, Place } from '@podwire/engine';
import { type Clock, withDeadline } from '@podwire/platform';
import { type EndpointContext, type KernelSide, ownedBy, type ResourceOwners } from '../endpoints/context.js';
import { endpointOfOwner } from '../endpoints/owners.js';
import type { EndpointRecord } from '../records/record.js';
import type { AgentLoop } from '../reconcile-loop.js';
import { listWanted } from '../wanted.js';
import { BackingOff } from './backing-off.js';
import { type DriftLog, nameOwner } from './drift-log.js';
import type { OwnerIndex } from './owner-index.js';
import { type Suspicion, Suspicions } from './suspicions.js';

type DriftContext = ResourceOwners &
  Pick<EndpointContext, 'engine' | 'namespaces' | 'locks' | 'readiness' | 'log'>;

export interface DriftWatchOptions {
  readonly context: DriftContext;
  readonly owners: OwnerIndex;
  readonly reconciler: Pick<AgentLoop, 'run'>;
  readonly drift: DriftLog;
  readonly clock: Clock;
  /** Milliseconds for the look at one owner, and its repair. */
  readonly deadline: number;
}

/** Milliseconds between two looks. What comes in between is looked at together. */
const INTERVAL = 200;
/** Reads in one look: a place in which more happens has its hints later, or loses them. */
const READS = 8;
/** Owners in one look. On the node, more of them are looked at faster in a round, which reads everything once. */
const MANY = 64;

/** Where rounds look for what no owner wants. */
const NODE: Place = 'host';

export class DriftWatch {
  readonly #place: Place;
  readonly #feeds: readonly Changes[];
  readonly #options: DriftWatchOptions;
  readonly #backingOff: BackingOff;
  readonly #suspicions = new Suspicions();

  /** @param feeds of the place, opened */
  constructor(place: Place, feeds: readonly Changes[], options: DriftWatchOptions) {
    this.#place = place;
    this.#feeds = feeds;
    this.#options = options;
    this.#backingOff = new BackingOff(() => options.clock.elapsed());
  }

  /** Resolves when the signal aborts; closes the feeds then. */
  async run(signal: AbortSignal): Promise<void> {
    const { drift, clock, context } = this.#options;
    const isEnded = (): Promise<boolean> =>
      clock.sleep(INTERVAL, signal).then(
        () => false,
        () => true,
      );
    drift.watched.add(this.#place);
    try {
      while (!(await isEnded())) await this.look(signal);
    } catch (err) {
      if (!signal.aborted)
        context.log.error({ err, place: this.#place }, 'drift is found in rounds only from now on');
    } finally {
      drift.watched.delete(this.#place);
      for (const feed of this.#feeds) feed.close();
    }
  }

  /** Reads what has come, and looks after those whom it concerns. */
  async look(signal: AbortSignal): Promise<void> {
    for (let read = 0; read < READS; read++) {
      const found = this.#feeds.map((feed) => feed.read());
      this.#note(found.flatMap(({ hints }) => hints));
      if (!found.some(({ more }) => more)) break;
      await setImmediate();
    }
    // Before that, the first round looks at everything anyway.
    if (this.#suspicions.size === 0 || !this.#options.context.readiness.ready) return;
    await this.#lookAfterAll(signal).catch((err: unknown) => {
      if (!signal.aborted) this.#options.context.log.error({ err }, 'drift could not be looked at');
    });
  }

  #note(hints: readonly Hint[]): void {
    if (hints.length === 0) return;
    const { context, drift, owners } = this.#options;
    owners.refresh();
    for (const hint of hints) {
      if (hint.lost === true) drift.lost++;
      if (!this.#suspicions.note(hint, owners.find(hint, this.#place))) continue;
      context.log.debug({ keys: hint.keys, by: hint.by }, 'others may have changed something');
    }
  }

  async #lookAfterAll(signal: AbortSignal): Promise<void> {
    const due = this.#suspicions.filter((subject) => this.#backingOff.mayLook(subject));
    const owners = new Set(due.flatMap(({ left }) => [...left]));
    const shared = [...owners].filter((owner) => endpointOfOwner(owner) === undefined);
    const isMuch = this.#place === NODE && owners.size > MANY;
    const isRoundDue = isMuch || due.some(({ leftover }) => leftover);
    if (isRoundDue || (await this.#areDrifted(shared))) return this.#runRound(due);
    for (const owner of shared) strike(due, owner, false);
    for (const owner of [...owners].slice(0, MANY)) {
      signal.throwIfAborted();
      const key = endpointOfOwner(owner);
      if (key !== undefined) await this.#lookAfter(due, owner, key);
    }
    for (const suspicion of due) if (suspicion.left.size === 0) this.#settle(suspicion);
  }

  /** The node's own part, peers, policy: they are repaired in rounds only. */
  async #areDrifted(owners: readonly OwnerId[]): Promise<boolean> {
    const { context, drift, deadline } = this.#options;
    for (const owner of owners) {
      const owned = this.#options.owners.owned(owner);
      if (owned === undefined) continue;
      drift.checks++;
      const drifts = await withDeadline(undefined, deadline, (signal) =>
        context.engine.verify(owned, { signal }),
      );
      if (drifts.length > 0) return true;
    }
    return false;
  }

  async #runRound(due: readonly Suspicion[]): Promise<void> {
    const { reconciler, drift } = this.#options;
    drift.checks++;
    let changes: readonly Change[] | undefined;
    try {
      ({ changes } = await reconciler.run());
      drift.note(changes, due.find(({ by }) => by !== undefined)?.by);
    } finally {
      for (const suspicion of due) {
        suspicion.isRepaired ||= changes === undefined || changes.some((change) => isOf(change, suspicion));
        this.#settle(suspicion);
      }
    }
  }

  /** Beside requests: one that a request is working on is looked at when that has done. */
  async #lookAfter(due: readonly Suspicion[], owner: OwnerId, key: string): Promise<void> {
    const { context, drift } = this.#options;
    const work = context.locks.tryWithKey(key, async () => {
      const changes = await this.#repair(key);
      drift.note(changes, due.find(({ left, by }) => by !== undefined && left.has(owner))?.by);
      return changes.length > 0;
    });
    if (work === undefined) return;
    // One that cannot be looked at is not tried again and again either.
    let isRepaired = true;
    try {
      isRepaired = await work;
    } finally {
      strike(due, owner, isRepaired);
    }
  }

  async #repair(key: string): Promise<readonly Change[]> {
    const { context, drift, deadline } = this.#options;
    const record = context.endpoints.get(key);
    // One that is being made or removed is left to the request; one without its namespace is left to a round.
    if (record?.phase !== 'ready' || context.namespaces.isGone(record.namespace)) return [];
    drift.checks++;
    return withDeadline(undefined, deadline, (signal) => repairIfDrifted(context, record, signal));
  }

  #settle(suspicion: Suspicion): void {
    const { subject, owners, by, isRepaired } = suspicion;
    this.#suspicions.settle(suspicion);
    const pause = this.#backingOff.noteLook(subject, isRepaired);
    if (pause === undefined) return;
    const { context } = this.#options;
    const [owner] = owners;
    const whose = owners.size > 1 ? 'all' : nameOwner(context.endpoints, owner);
    context.log.warn(
      { of: whose, by: by ?? 'unknown', ms: pause },
      'something changes it again and again; it is looked at less often',
    );
  }
}

/** The owner was looked at. */
function strike(due: readonly Suspicion[], owner: OwnerId, isRepaired: boolean): void {
  for (const suspicion of due) if (suspicion.left.delete(owner)) suspicion.isRepaired ||= isRepaired;
}

const isOf = ({ owner }: Change, { owners, leftover }: Suspicion): boolean =>
  owner === undefined ? leftover : owners.has(owner);

/** Looks at single things first: nearly always nothing is wrong, and a round reads all of the node. */
async function repairIfDrifted(
  context: ResourceOwners & Pick<KernelSide, 'engine'>,
  record: EndpointRecord,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const { engine } = context;
  const drifts = await engine.verify(ownedBy(record), { signal });
  if (drifts.length === 0) return [];
  const round = engine.startReconcile(() => listWanted(context));
  return round.repair([ownedBy(record)], { signal });
}
