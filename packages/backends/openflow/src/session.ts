import {
  type Batch,
  carryOutAsFarAsPossible,
  type Exchange,
  type Failure,
  type MarkedThing,
  type Observation,
  type Observed,
  type Repair,
  type Resource,
  type Session,
  type SessionOptions,
  type Snapshot,
  type StartedRemoval,
} from '@podwire/engine';
import { groupBy, hasCode } from '@podwire/platform';
import { type Ahead, sendAhead } from './ahead.js';
import { carryOut, type CarryOutOptions } from './carry-out.js';
import { isNoBridge, silentError } from './errors.js';
import { type Item, itemOf } from './items.js';
import type { BridgeLink } from './link.js';
import { areForeseen, type Step, type StepFailure } from './plan.js';
import type { FlowResources } from './resources.js';
import { BridgeSnapshot } from './snapshot.js';
import { lookAt, type View } from './view.js';

type FlowResource = FlowResources[keyof FlowResources];

/** The link to a bridge, by its name. */
export type LinkOf = (bridge: string) => BridgeLink;

/** An item with our mark; without one it stands for all of a bridge that could not be looked at. */
interface MarkedItem extends MarkedThing {
  readonly bridge: string;
  readonly item?: Item;
  readonly error?: unknown;
}

export class FlowSession implements Session {
  readonly #links: ReadonlyMap<string, BridgeLink>;
  readonly #linkOf: LinkOf;
  #ahead: Ahead | undefined;

  /** @param links to all bridges that leftovers are looked for on */
  constructor(links: ReadonlyMap<string, BridgeLink>, linkOf: LinkOf) {
    this.#links = links;
    this.#linkOf = linkOf;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  prepare(batch: Batch, { signal }: SessionOptions): void {
    const steps = stepsFor('add', batch.resources);
    this.#ahead?.drop();
    const link = this.#linkFor(batch.resources);
    this.#ahead = areForeseen(steps) ? sendAhead(link, batch, steps, signal) : undefined;
  }

  async create(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    const { resources } = batch;
    if (this.#ahead?.batch === batch) return toFailures(await this.#ahead.commit());
    const steps = stepsFor('add', resources);
    return toFailures(await carryOut(this.#linkFor(resources), steps, { signal, waits: true }));
  }

  async repair(_batch: Batch, repairs: readonly Repair[], { signal }: SessionOptions): Promise<Failure[]> {
    const resources = repairs.map(({ resource }) => resource);
    // A missing one may have come meanwhile.
    return this.#carryOutEach('replace', resources, signal);
  }

  async remove({ resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    return this.#carryOutEach('remove', resources, signal);
  }

  /** Flows that go are in no other call's way: ovs-vswitchd may be busy for 10 ms with a port of `netdev` that has gone. */
  async startRemoval({ resources }: Batch, { signal }: SessionOptions): Promise<StartedRemoval> {
    let onSent = (): void => undefined;
    const sent = new Promise<void>((resolve) => (onSent = resolve));
    const steps = stepsFor('remove', resources);
    const done = carryOutEach(this.#linkFor(resources), steps, { signal, onSent }).then(toFailures);
    await Promise.race([sent, done]);
    return { done };
  }

  async exchange({ add, replace, remove }: Exchange, { signal }: SessionOptions): Promise<Failure[]> {
    const steps = [...stepsFor('remove', remove), ...stepsFor('replace', replace), ...stepsFor('add', add)];
    if (steps.length === 0) return [];
    const link = this.#linkFor([...remove, ...replace, ...add]);
    return toFailures(await carryOut(link, steps, { signal, waits: true }));
  }

  async observe(
    resources: readonly Resource[],
    snapshot: Snapshot | undefined,
    { signal }: SessionOptions,
  ): Promise<Observed> {
    const byBridge = groupBy(resources as readonly FlowResource[], ({ bridge }) => bridge);
    const parts = [...byBridge].map(async ([bridge, group]) =>
      this.#observeOn(this.#linkOf(bridge), group, snapshot, signal),
    );
    return new Map((await Promise.all(parts)).flat());
  }

  async listMarked(
    _wanted: readonly Resource[],
    snapshot: Snapshot | undefined,
    { signal }: SessionOptions,
  ): Promise<MarkedItem[]> {
    const seen = snapshot instanceof BridgeSnapshot ? snapshot : new BridgeSnapshot();
    const parts = [...this.#links.values()].map(async (link) => listMarkedOn(link, seen, signal));
    return (await Promise.all(parts)).flat();
  }

  async prune(
    things: readonly MarkedThing[],
    { signal }: SessionOptions,
  ): Promise<ReadonlyMap<MarkedThing, unknown>> {
    const failures = new Map<MarkedThing, unknown>();
    for (const [bridge, group] of groupBy(things as readonly MarkedItem[], (thing) => thing.bridge)) {
      const steps = group.flatMap((thing): Step<MarkedItem>[] => {
        if (thing.item === undefined) failures.set(thing, thing.error);
        return thing.item === undefined ? [] : [{ action: 'remove', item: thing.item, subject: thing }];
      });
      for (const { step, error } of await carryOutEach(this.#linkOf(bridge), steps, { signal }))
        failures.set(step.subject, error);
    }
    return failures;
  }

  close(): void {
    // The connections stay until the backend is closed.
    this.#ahead?.drop();
  }

  async #observeOn(
    link: BridgeLink,
    resources: readonly FlowResource[],
    snapshot: Snapshot | undefined,
    signal: AbortSignal,
  ): Promise<[Resource, Observation][]> {
    const items = resources.map(itemOf);
    try {
      const view =
        snapshot instanceof BridgeSnapshot
          ? await snapshot.view(link, signal)
          : await link.look(signal, (connection, either) =>
              lookAt(connection, link.bridge, { items, usersOf: [] }, either),
            );
      return resources.map((one, index) => [one, { found: view.items.get(items[index]!.key) }]);
    } catch (error) {
      signal.throwIfAborted();
      const observation = observationAfter(link, error);
      return resources.map((one) => [one, observation]);
    }
  }

  /** The engine's batches have one place, which is one bridge. */
  #linkFor(resources: readonly Resource[]): BridgeLink {
    return this.#linkOf((resources[0] as FlowResource).bridge);
  }

  async #carryOutEach(
    action: Step['action'],
    resources: readonly Resource[],
    signal: AbortSignal,
  ): Promise<Failure[]> {
    const steps = stepsFor(action, resources);
    return toFailures(await carryOutEach(this.#linkFor(resources), steps, { signal }));
  }
}

/** Each as far as it can be done. A bridge that is silent fails what is on it, and no other bridge. */
const carryOutEach = <S>(
  link: BridgeLink,
  steps: readonly Step<S>[],
  options: Pick<CarryOutOptions, 'signal' | 'onSent'>,
): Promise<readonly StepFailure<S>[]> => {
  let silence: unknown;
  return carryOutAsFarAsPossible(steps, async (some): Promise<readonly StepFailure<S>[]> => {
    if (silence !== undefined) return some.map((step) => ({ step, error: silence }));
    try {
      const failures = await carryOut(link, some, options);
      silence = failures.find(({ error }) => hasCode(error, 'BACKEND_SILENT'))?.error;
      return failures;
    } catch (error) {
      if (!hasCode(error, 'BACKEND_SILENT')) throw error;
      silence = error;
      return some.map((step) => ({ step, error }));
    }
  });
};

/** A bridge that is not there has nothing; of one that does not answer nothing is known. */
function observationAfter({ bridge }: BridgeLink, error: unknown): Observation {
  const silence = silentError(bridge, error);
  return isNoBridge(error) ? { gone: silence.message } : { unseen: silence };
}

async function listMarkedOn(
  link: BridgeLink,
  snapshot: BridgeSnapshot,
  signal: AbortSignal,
): Promise<MarkedItem[]> {
  const { bridge } = link;
  try {
    return listOurs(bridge, await snapshot.view(link, signal));
  } catch (error) {
    signal.throwIfAborted();
    if (isNoBridge(error)) return [];
    const what = `leftovers on bridge ${bridge}`;
    return [{ key: what, what, bridge, error: silentError(bridge, error) }];
  }
}

const sorts: readonly Item['sort'][] = ['flow', 'group', 'meter'];

/** Flows before the groups and meters that they need. */
function listOurs(bridge: string, { items }: View): MarkedItem[] {
  const ours = [...items.values()].filter(({ isOurs }) => isOurs);
  return sorts.flatMap((sort) =>
    ours
      .filter((item) => item.sort === sort)
      .map((item) => ({ key: item.key, what: item.what, bridge, item })),
  );
}

const stepsFor = (action: Step['action'], resources: readonly Resource[]): Step<Resource>[] =>
  resources.map((resource) => ({ action, item: itemOf(resource), subject: resource }));

const toFailures = (failures: readonly StepFailure<Resource>[]): Failure[] =>
  failures.map(({ step: { subject: resource }, error }) => ({ resource, error }));
