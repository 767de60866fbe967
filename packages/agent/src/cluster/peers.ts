/**
 * The other nodes: what the kernel must have to reach their pods, and what it has. A peer goes when its node object goes, and
 * not when it is merely absent: the pods of a node that is cut off from the store still work.
 */
import { describeError } from '@podwire/errors';
import type { CallOptions, Engine, Owned, OwnerId, Resource } from '@podwire/engine';
import type { PeerView } from '@podwire/network-contract';
import type { Log } from '@podwire/platform';
import type { PeerJournal } from './peer-journal.js';
import { createPeerPlaces } from './peer-places.js';
import type { NetworkSide } from '../node/host-tables.js';
import { planPeer, without } from './peer-plan.js';

export interface Peer {
  readonly view: PeerView;
  readonly resources: readonly Resource[];
  /** Why it could not be planned or applied. */
  readonly problem?: string;
}

export interface PeersOptions {
  /** Of this moment, since pools and the node's own addresses change. */
  readonly sides: () => readonly NetworkSide[];
  /** As the store has it; undefined when there is no such node (any more). */
  readonly viewOf: (name: string) => PeerView | undefined;
  readonly journal: PeerJournal;
  /** Whether the store has told of all nodes. */
  readonly isSynced: () => boolean;
  /** {@link Peers.areKnown} has become so. */
  readonly onKnown: () => void;
  readonly log: Log;
}

export interface Peers {
  /** By name: what is applied, or was meant to be. */
  readonly known: ReadonlyMap<string, Peer>;
  /** Whether these are all: until then anything in the kernel may lead to a peer, and must stay. */
  readonly areKnown: boolean;
  /** It is looked at again by the next {@link flush}. */
  markChanged(name: string): void;
  /**
   * Takes away and applies what has changed; when the node's own part has, that is what differs of every peer. The caller keeps
   * reconcile out meanwhile. @throws the signal's reason
   */
  flush(engine: Engine, options: CallOptions): Promise<void>;
  /** What a reconcile must find in the kernel: as it was applied, with what is not applied yet left out. */
  owned(): Owned[];
  /** What the last life has applied, as it is planned now: nothing of it is applied again. Once, before the first reconcile. */
  adopt(): void;
  /** A reconcile has put everything in order but for these, with what has failed in words. */
  noteReconciled(failed: ReadonlyMap<OwnerId, string>): void;
}

/** Peers that travel together: one call to the kernel for many costs a fraction of one each. */
const together = 256;

export function createPeers({ sides, viewOf, journal, isSynced, onKnown, log }: PeersOptions): Peers {
  const known = new Map<string, Peer>();
  const changed = new Set<string>();
  /** What may be in the kernel of those with whom something went wrong half way; perhaps none of it is. */
  const doubtful = new Map<string, readonly Resource[]>();
  const places = createPeerPlaces();
  let prepared: readonly NetworkSide[] = [];
  let preparedText = '';
  let areKnown = journal.isComplete;

  /** What all plans have in common is read once, and every peer is looked at again when it has changed. */
  function prepare(): void {
    prepared = sides();
    const text = JSON.stringify(prepared.map(({ view }) => ({ ...view, blocks: [] })));
    if (text === preparedText) return;
    preparedText = text;
    for (const name of known.keys()) changed.add(name);
  }

  function planAgain(name: string, view: PeerView): Peer {
    try {
      return { view, resources: planPeer(prepared, view) };
    } catch (err) {
      log.error({ err, peer: name }, 'a peer cannot be reached');
      return { view, resources: known.get(name)?.resources ?? [], problem: describeError(err) };
    }
  }

  /** One after the other, after they have failed together: so it is known which, and the others are served. */
  async function applyOneByOne(engine: Engine, work: readonly Work[], options: CallOptions): Promise<void> {
    for (const one of work) {
      try {
        await engine.apply({ owner: ownerOf(one.name), resources: one.missing }, options);
      } catch (err) {
        options.signal.throwIfAborted();
        log.error({ err, peer: one.name }, 'a peer cannot be reached');
        if (one.after !== undefined) one.after = { ...one.after, problem: describeError(err) };
      }
    }
  }

  async function takeAway(engine: Engine, work: readonly Work[], options: CallOptions): Promise<void> {
    const gone = work.filter((one) => one.gone.length > 0);
    if (gone.length === 0) return;
    const owned = {
      owner: nameGroup(gone.map(({ name }) => name)),
      resources: inFewSteps(gone.flatMap((one) => one.gone)),
    };
    await engine.remove(owned, options).catch((err: unknown) => {
      options.signal.throwIfAborted();
      log.error({ err }, 'what led to peers is not all gone; the next reconcile takes it away');
    });
  }

  async function apply(engine: Engine, work: readonly Work[], options: CallOptions): Promise<void> {
    const missing = work.filter((one) => one.missing.length > 0);
    if (missing.length === 0) return;
    const resources = inFewSteps(missing.flatMap((one) => one.missing));
    try {
      await engine.apply({ owner: nameGroup(missing.map(({ name }) => name)), resources }, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (missing.length > 1) log.warn({ err: error, peers: missing.length }, 'peers are applied one by one');
      await applyOneByOne(engine, missing, options);
    }
  }

  async function flushSome(work: readonly Work[], engine: Engine, options: CallOptions): Promise<void> {
    // Written first: what may be in the kernel is known to the next life.
    journal.note(
      work.flatMap(({ name, after }) => (after === undefined ? [] : [[name, after.view] as const])),
    );
    // A block may go from one peer to another, and the kernel has one route to it.
    await takeAway(engine, work, options);
    await apply(engine, work, options);
    for (const one of work) settle(one);
    journal.note(
      work.flatMap(({ name, after }) => (after === undefined ? [[name, undefined] as const] : [])),
    );
    report(log, work);
  }

  function settle(one: Work): void {
    const { name, after } = one;
    if (after?.problem === undefined) doubtful.delete(name);
    else doubt(one);
    if (after === undefined) known.delete(name);
    else known.set(name, after);
  }

  function doubt({ name, before, after }: Work): void {
    doubtful.set(name, [...before, ...(after?.resources ?? [])]);
  }

  /** These, and those who want something else where these have something or are about to. */
  function planTogether(names: readonly string[]): Work[] {
    const work = new Map<string, Work>();
    const queue = [...names];
    for (const name of queue) {
      if (work.has(name)) continue;
      changed.delete(name);
      const one = planWork(name);
      work.set(name, one);
      const rivals = [...one.gone, ...one.missing].flatMap((resource) =>
        places.others(name, resource).filter((other) => !isSame(other.resource, resource)),
      );
      queue.push(...rivals.map(({ peer }) => peer));
    }
    for (const one of work.values()) spareOthers(one, work);
    return [...work.values()];
  }

  function planWork(name: string): Work {
    const before = doubtful.get(name) ?? known.get(name)?.resources ?? [];
    const present = doubtful.has(name) ? [] : before;
    const view = viewOf(name);
    const after = view === undefined ? undefined : planAgain(name, view);
    const resources = after?.resources ?? [];
    const [gone, missing] = [without(before, resources), without(resources, present)];
    // After a restart that is so for all of them: what is known already is kept, and the same again is not.
    if (after !== undefined && gone.length + missing.length === 0)
      return { name, before, after: { ...after, resources: before }, gone, missing };
    places.want(name, resources);
    return { name, before, after, gone, missing };
  }

  /** What another peer wants too stays; what takes another's along, being in its place, is followed by that. */
  function spareOthers(one: Work, work: ReadonlyMap<string, Work>): void {
    one.gone = one.gone.filter((resource) => {
      const others = places.others(one.name, resource);
      if (others.some((other) => isSame(other.resource, resource))) return false;
      for (const other of others) addOnce(work.get(other.peer)?.missing ?? [], other.resource);
      return true;
    });
  }

  return {
    known,
    markChanged: (name) => void changed.add(name),
    get areKnown() {
      return areKnown;
    },
    async flush(engine, options) {
      prepare();
      // What it tells while this runs is not in this list of changes.
      const isAll = isSynced();
      const names = [...changed].sort();
      for (let at = 0; at < names.length; at += together) {
        const work = planTogether(names.slice(at, at + together).filter((name) => changed.has(name)));
        try {
          await flushSome(work, engine, options);
        } catch (error) {
          for (const one of work) {
            doubt(one);
            changed.add(one.name);
          }
          throw error;
        }
      }
      if (!isAll || areKnown) return;
      areKnown = true;
      onKnown();
    },
    owned: () =>
      [...known]
        .filter(([, { resources }]) => resources.length > 0)
        .map(([name, { resources }]) => ({ owner: ownerOf(name), resources })),
    adopt() {
      prepare();
      for (const [name, view] of journal.found) {
        const peer = planAgain(name, view);
        known.set(name, peer);
        places.want(name, peer.resources);
      }
    },
    noteReconciled(failed) {
      for (const name of [...doubtful.keys()]) if (!failed.has(ownerOf(name))) doubtful.delete(name);
      for (const [name, { view, resources, problem }] of known) {
        const why = failed.get(ownerOf(name));
        if (why !== undefined) known.set(name, { view, resources, problem: why });
        // What could not be planned may be possible now; what could not be applied is there.
        else if (problem !== undefined) changed.add(name);
      }
    },
  };
}

/** What is to be done for one peer. */
interface Work {
  readonly name: string;
  /** What may be there. */
  readonly before: readonly Resource[];
  /** `undefined`: it goes. */
  after: Peer | undefined;
  gone: readonly Resource[];
  readonly missing: Resource[];
}

const isSame = (one: Resource, other: Resource): boolean => JSON.stringify(one) === JSON.stringify(other);

function addOnce(resources: Resource[], added: Resource): void {
  if (!resources.some((each) => isSame(each, added))) resources.push(added);
}

const ownerOf = (name: string): OwnerId => `peer:${name}`;

/** The owner of what belongs to several: `peer:node1…node256`. */
function nameGroup(names: readonly string[]): OwnerId {
  return names.length === 1 ? ownerOf(names[0]!) : `peer:${names[0]}…${names.at(-1)}`;
}

/** Neighbours in a list travel together, so what goes another way (elements of the packet filter) stands at the end. */
function inFewSteps(resources: readonly Resource[]): Resource[] {
  const isElement = ({ kind }: Resource): boolean => kind === 'nft-element';
  return [...resources.filter((each) => !isElement(each)), ...resources.filter(isElement)];
}

function report(log: Log, work: readonly Work[]): void {
  const count = (list: 'gone' | 'missing'): number => work.reduce((sum, one) => sum + one[list].length, 0);
  const [added, removed] = [count('missing'), count('gone')];
  if (added + removed === 0) return;
  const who = work.length <= 4 ? { peers: work.map(({ name }) => name) } : { peers: work.length };
  log.info({ ...who, added, removed }, 'what leads to peers has changed');
}
