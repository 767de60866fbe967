/**
 * Uplinks that have joined a bridge. A backend of its own: leftovers of later backends go first, and addresses must be off a bridge
 * before the bridge itself goes, which is a row of Open vSwitch.
 */
import type {
  Backend,
  Batch,
  Failure,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
} from '@podwire/engine';
import { type NetlinkConnection, readLink } from '@podwire/netlink';
import { isAbsent, isConflict } from '../errors.js';
import type { Kernel } from '../kernel.js';
import { observeEach } from '../kinds.js';
import { uplinkAlias } from '../marks.js';
import { failAll } from '../rtnetlink/send.js';
import { readContents } from './contents.js';
import { describeContents, describeMove, type UplinkFound, uplinkKey, uplinkKinds } from './kind.js';
import { listMoves, moveBack, moveThere, type UplinkEnds } from './move.js';
import type { UplinkMoved } from './resources.js';

/** An uplink whose contents are on a bridge, by the mark of the bridge. */
interface MarkedUplink extends MarkedThing, UplinkEnds {}

/** It comes last among the backends of a node. Closing it leaves the kernel open. */
export const createUplinkBackend = ({ host: { route } }: Pick<Kernel, 'host'>): Backend => ({
  name: 'uplink',
  kinds: Object.values(uplinkKinds),
  open: () => new UplinkSession(route),
  isAbsent,
  isConflict,
  close: () => undefined,
});

class UplinkSession implements Session {
  readonly #route: NetlinkConnection;

  constructor(route: NetlinkConnection) {
    this.#route = route;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, moveThere);
  }

  async repair(batch: Batch, _repairs: readonly Repair[]): Promise<Failure[]> {
    return this.create(batch);
  }

  async remove({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, moveBack);
  }

  /** Each by itself: the network of one uplink does not wait for that of another one. */
  async #each(
    resources: readonly Resource[],
    move: (route: NetlinkConnection, ends: UplinkEnds) => void,
  ): Promise<Failure[]> {
    const failures = resources.flatMap((resource) => {
      const error = errorOf(() => move(this.#route, resource as UplinkMoved));
      return error === undefined ? [] : failAll([resource], error);
    });
    return Promise.resolve(failures);
  }

  async observe(resources: readonly Resource[]): Promise<Observed> {
    return Promise.resolve(
      observeEach(resources, (resource) => observeUplink(this.#route, resource as UplinkMoved)),
    );
  }

  async listMarked(): Promise<MarkedUplink[]> {
    const marked = listMoves(this.#route).map(({ from, to }) => {
      return { key: uplinkKey(from), what: describeMove(from, to), from, to };
    });
    return Promise.resolve(marked);
  }

  async prune(things: readonly MarkedThing[]): Promise<ReadonlyMap<MarkedThing, unknown>> {
    const failures = things.flatMap((thing) => {
      const error = errorOf(() => moveBack(this.#route, thing as MarkedUplink));
      return error === undefined ? [] : [[thing, error] as const];
    });
    return Promise.resolve(new Map(failures));
  }

  close(): void {
    // It has opened nothing.
  }
}

function errorOf(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Nothing is left on an uplink that is gone: what was on it has gone with it, or is on the bridge. */
function observeUplink(route: NetlinkConnection, { from, to }: UplinkEnds): UplinkFound {
  const [source, target] = [readLink(route, from), readLink(route, to)];
  const left = source === undefined ? [] : describeContents(readContents(route, source));
  if (target === undefined) return { left, target: 'gone' };
  return { left, target: target.alias === uplinkAlias(from) ? 'marked' : 'unmarked' };
}
