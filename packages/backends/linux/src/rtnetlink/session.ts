import type {
  Batch,
  Failure,
  MarkedThing,
  Observed,
  Owned,
  Repair,
  Resource,
  Session,
  SessionContext,
  SessionOptions,
  Snapshot,
} from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import type { Clock } from '@podwire/platform';
import { decodeLink, getLinkRequest, type NetlinkConnection, type NetlinkMessage } from '@podwire/netlink';
import type { Kernel, KernelNamespace, PodNamespace, PodNamespaces } from '../kernel.js';
import { observeEach } from '../kinds.js';
import type { Place } from '../places.js';
import { ANSWERS, awaitAnswer } from './answers.js';
import { type Dump, dumpNamespace } from './dump.js';
import { keepOthers } from './last-address.js';
import { isAbsent } from '../errors.js';
import { rtnetlinkKinds } from './kinds.js';
import type { LinkNumbers, RtnetlinkKind } from './kind.js';
import {
  deleteOwnTunnel,
  findOwn,
  freeName,
  hostNameOf,
  type KnownVeths,
  type LinkResource,
  type RemovalContext,
  restoreName,
  takeOutOfService,
} from './link-removal.js';
import { linkSetting } from './link-setting.js';
import { lookUp, lookUpInPod } from './lookup.js';
import { listMarked, type Leftover, pruneBatch } from './prune.js';
import type { IpRoute, NeighbourAnswers } from './resources.js';
import { encodeClearance, isMisledByOld, isSameRoute } from './routes.js';
import { type Encode, encodeAll, failAll, send, together } from './send.js';
import type { NamespaceView, View } from './view.js';

const kindsByName = new Map<string, RtnetlinkKind<Resource>>(
  [...Object.values(rtnetlinkKinds), linkSetting].map((kind) => [
    kind.kind,
    kind as unknown as RtnetlinkKind<Resource>,
  ]),
);
const kindOf = (resource: Resource): RtnetlinkKind<Resource> => kindsByName.get(resource.kind)!;

/** Parts that the sessions of a backend share. */
export interface RtnetlinkParts {
  readonly kernel: Kernel;
  readonly pods: PodNamespaces;
  readonly veths: KnownVeths;
  readonly clock: Clock;
}

/** One call's use of rtnetlink: the host, and the pod's namespace once something needs it. */
export class RtnetlinkSession implements Session, LinkNumbers {
  readonly #kernel: Kernel;
  readonly #clock: Clock;
  readonly #owned: Owned;
  readonly #pods: PodNamespaces;
  readonly #pod: PodNamespace;
  readonly #removal: RemovalContext;
  readonly #veths: KnownVeths;
  readonly #indexes = new Map<string, number>();

  constructor({ kernel, pods, veths, clock }: RtnetlinkParts, owned: Owned, context: SessionContext) {
    this.#kernel = kernel;
    this.#clock = clock;
    this.#veths = veths;
    this.#owned = owned;
    this.#pods = pods;
    this.#pod = pods.acquire(owned);
    this.#removal = { kernel, veths, pod: this.#pod, faults: context.faults, defer: context.defer };
  }

  async reaches(place: string): Promise<boolean> {
    return Promise.resolve(place !== 'pod' || this.#pod.isThere());
  }

  podFd(): number {
    return this.#pod.open().fd;
  }

  indexOf(place: Place, link: string): number {
    // The kernel makes it first in each namespace, and its index is fixed there.
    if (link === 'lo') return 1;
    const key = `${place}/${link}`;
    const index = this.#indexes.get(key) ?? findIndex(this.#namespace(place).route, link);
    this.#indexes.set(key, index);
    return index;
  }

  #namespace(place: string): KernelNamespace {
    return place === 'pod' ? this.#pod.open() : this.#kernel.host;
  }

  readonly #encodeCreation: Encode = (resource) => kindOf(resource).create(resource, this);

  readonly #encodeReplacement: Encode = (resource) => {
    const kind = kindOf(resource);
    return kind.replace?.(resource, this) ?? kind.create(resource, this);
  };

  readonly #encodeRemoval: Encode = (resource) => kindOf(resource).delete?.(resource, this) ?? [];

  async create(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (batch.name === ANSWERS) return this.#awaitAnswers(batch, signal);
    return Promise.resolve(
      batch.name === 'links' ? this.#createLinks(batch) : this.#sendTogether(batch, this.#encodeCreation),
    );
  }

  async repair(batch: Batch, repairs: readonly Repair[]): Promise<Failure[]> {
    // A reconcile does not wait for other machines.
    if (batch.name === ANSWERS) return Promise.resolve([]);
    const withAction = (action: Repair['action']): Batch => ({
      ...batch,
      resources: repairs.filter((repair) => repair.action === action).map(({ resource }) => resource),
    });
    const [replaced, added] = [withAction('replace'), withAction('add')];
    if (batch.name === 'links')
      return Promise.resolve([
        ...this.#sendEach(replaced, this.#encodeReplacement),
        ...(added.resources.length === 0 ? [] : this.#createLinks(added)),
      ]);
    // Not everything of a pod is seen: what is missing may be there.
    const isSeen = batch.place !== 'pod';
    return Promise.resolve([
      ...this.#replaceEntries(replaced),
      ...(isSeen ? this.#addEntries(added) : this.#replaceEntries(added)),
    ]);
  }

  /** Where another route has taken the place of a pod's, a look at what leads through the pod's link does not see it. */
  #addEntries(batch: Batch): Failure[] {
    const failures = this.#sendEach(batch, this.#encodeCreation);
    if (this.#owned.namespace === undefined) return failures;
    const isTaken = ({ resource, error }: Failure): boolean =>
      resource.kind === 'route' && hasCode(error, 'EEXIST');
    const taken = failures.filter(isTaken).map(({ resource }) => resource);
    if (taken.length === 0) return failures;
    const again = this.#sendEach({ ...batch, resources: taken }, this.#encodeReplacement);
    return [...failures.filter((failure) => !isTaken(failure)), ...again];
  }

  async remove(batch: Batch): Promise<Failure[]> {
    return Promise.resolve(
      batch.name === 'links'
        ? takeOutOfService(this.#removal, batch.resources as readonly LinkResource[])
        : this.#removeEntries(batch),
    );
  }

  async observe(resources: readonly Resource[], snapshot: Snapshot | undefined): Promise<Observed> {
    const view = this.#openView(snapshot as Dump | undefined);
    return Promise.resolve(observeEach(resources, (resource) => kindOf(resource).observe(resource, view)));
  }

  #openView(dump: Dump | undefined): View {
    const host = dump ?? lookUp(this.#kernel.host);
    let pod: NamespaceView | undefined;
    return { side: (place) => (place === 'host' ? host : (pod ??= lookUpInPod(this.#pod.open()))) };
  }

  async recover(missing: readonly Resource[], isOwned: (key: string) => boolean): Promise<void> {
    for (const resource of missing)
      if (resource.kind === 'veth') restoreName(this.#kernel, this.#pod, resource, isOwned);
    return Promise.resolve();
  }

  /**
   * A veth whose other end has left the pod or is no longer ours cannot be repaired, nor can a tunnel of another kind
   * than wanted: it goes, and is made anew. A veth gives its name up at once, or the sysctls under the name would still
   * be taken for those of the new one.
   */
  async clear(missing: readonly Resource[]): Promise<Failure[]> {
    const links = missing as readonly LinkResource[];
    const failures = takeOutOfService(this.#removal, links).filter(({ error }) => !isAbsent(error));
    const failed = new Set(failures.map(({ resource }) => resource));
    const cleared = links.filter((link) => !failed.has(link));
    const unnamed = cleared.flatMap((link) => together([link], () => void freeName(this.#kernel, link)));
    return Promise.resolve([...failures, ...unnamed]);
  }

  async listMarked(wanted: readonly Resource[], snapshot: Snapshot | undefined): Promise<MarkedThing[]> {
    const dump = (snapshot as Dump | undefined) ?? dumpNamespace(this.#kernel.host);
    return Promise.resolve(listMarked(dump, wanted));
  }

  async prune(things: readonly MarkedThing[]): Promise<Map<MarkedThing, unknown>> {
    return Promise.resolve(pruneBatch(this.#removal, things as readonly Leftover[]));
  }

  close(): void {
    this.#pods.release(this.#owned);
  }

  /**
   * A name may still be that of a link that waits for deletion, the same pod's last one, which then gives it up. A
   * tunnel of ours that is another than wanted gives way too, or is changed if that is enough.
   */
  #createLinks(batch: Batch): Failure[] {
    const failures = this.#sendTogether(batch, this.#encodeCreation);
    const conflicts = failures
      .filter(({ error }) => hasCode(error, 'EEXIST'))
      .map(({ resource }) => [resource, this.#resolveConflict(resource as LinkResource)] as const);
    const resolutions = new Map<Resource, Resolution>(conflicts);
    const again = (resolution: Resolution, encode: Encode): Failure[] => {
      const resources = conflicts.flatMap(([resource, found]) => (found === resolution ? [resource] : []));
      return resources.length === 0 ? [] : this.#sendTogether({ ...batch, resources }, encode);
    };
    const others = failures.filter(({ resource }) => (resolutions.get(resource) ?? 'taken') === 'taken');
    return [
      ...others,
      ...again('free', this.#encodeCreation),
      ...again('changeable', this.#encodeReplacement),
    ];
  }

  #resolveConflict(wanted: LinkResource): Resolution {
    if (freeName(this.#kernel, wanted)) return 'free';
    const isOwn = findOwn(this.#kernel.host.route, hostNameOf(wanted)) !== undefined;
    if (wanted.kind !== 'vxlan' || !isOwn) return 'taken';
    const kind = rtnetlinkKinds.vxlan;
    const difference = kind.compare(wanted, kind.observe(wanted, this.#openView(undefined)));
    if (difference === undefined) return 'taken';
    if (typeof difference === 'string') return 'changeable';
    deleteOwnTunnel(this.#kernel, wanted);
    return 'free';
  }

  async #awaitAnswers({ place, resources }: Batch, signal: AbortSignal): Promise<Failure[]> {
    const wait = async (resource: Resource): Promise<Failure[]> => {
      try {
        const { route } = this.#namespace(place);
        const wanted = resource as NeighbourAnswers;
        const question = { ...wanted, route, index: this.indexOf(wanted.in, wanted.link) };
        await awaitAnswer(question, { owner: this.#owned.owner, clock: this.#clock, signal });
        return [];
      } catch (error) {
        signal.throwIfAborted();
        return [{ resource, error }];
      }
    };
    return (await Promise.all(resources.map(wait))).flat();
  }

  /** When one cannot be encoded nothing is sent. */
  #sendTogether(batch: Batch, encode: Encode): Failure[] {
    const encoded = encodeAll(batch.resources, encode);
    const [first] = encoded.failures;
    if (first !== undefined) return failAll(batch.resources, first.error);
    return this.#send(batch, encoded);
  }

  /** Sends everything that can be encoded in any case. */
  #sendEach(batch: Batch, encode: Encode): Failure[] {
    const encoded = encodeAll(batch.resources, encode);
    return [...encoded.failures, ...this.#send(batch, encoded)];
  }

  #send({ place }: Batch, encoded: Parameters<typeof send>[1]): Failure[] {
    return send(
      () => this.#namespace(place).route,
      encoded,
      (resource, replies) => this.#learn(resource, replies),
    );
  }

  /**
   * Takes the indexes of new links from the kernel's answer, so that they need not be looked up. Linux 6.2 and newer
   * echo a new link; of a veth they also tell the index of its other end, wherever that is.
   */
  #learn(resource: Resource, [reply]: readonly NetlinkMessage[]): void {
    if (reply === undefined || kindOf(resource).batch !== 'links') return;
    const link = decodeLink(reply);
    this.#indexes.set(`host/${link.name}`, link.index);
    if (resource.kind !== 'veth' || link.parent === undefined) return;
    this.#indexes.set(`pod/${resource.pod.name}`, link.parent);
    this.#veths.set(link.name, { host: link.index, pod: link.parent });
  }

  /** Each in the place of what is there. Where the old one makes the kernel refuse the new one, it goes first. */
  #replaceEntries(batch: Batch): Failure[] {
    const failures = this.#sendEach(batch, this.#encodeReplacement);
    const misled = failures.filter(isMisledByOld).map(({ resource }) => resource as IpRoute);
    if (misled.length === 0) return failures;
    const again = encodeAll(misled, this.#encodeCreation);
    // All of the old ones before any of the new: a gateway may lie in the destination of another.
    const cleared = this.#send(batch, {
      requests: [...misled.map(encodeClearance), ...again.requests],
      origins: [...misled, ...again.origins],
    });
    return [
      ...failures.filter((failure) => !isMisledByOld(failure)),
      ...again.failures,
      ...cleared.filter(({ error }) => !hasCode(error, 'ESRCH')),
    ];
  }

  /** Pods lose their addresses with their links; only of a link that stays anything else could go along. */
  #removeEntries(batch: Batch): Failure[] {
    const addresses = batch.resources.filter((resource) => resource.kind === 'address');
    if (batch.place === 'pod' || addresses.length === 0) return this.#sendEach(batch, this.#encodeRemoval);
    const { route } = this.#kernel.host;
    const going = addresses.flatMap(({ link, address }) => {
      const index = this.#indexIfThere(link);
      return index === undefined ? [] : [{ link: index, address }];
    });
    const restore = keepOthers(route, going, {
      route: (found) =>
        batch.resources.some((resource) => resource.kind === 'route' && isSameRoute(resource, found)),
      neighbour: (found) =>
        batch.resources.some(
          (resource) => resource.kind === 'neighbour' && resource.address === found.address,
        ),
    });
    const failures = this.#sendEach(batch, this.#encodeRemoval);
    return [...failures, ...together(addresses, restore)];
  }

  #indexIfThere(link: string): number | undefined {
    try {
      return this.indexOf('host', link);
    } catch (error) {
      if (hasCode(error, 'ENODEV')) return undefined;
      throw error;
    }
  }
}

/** Ways to resolve a name that is taken: nothing, make the link now, or change the one that is there. */
type Resolution = 'taken' | 'free' | 'changeable';

function findIndex(route: NetlinkConnection, link: string): number {
  const [replies] = route.request([getLinkRequest(link)]);
  return decodeLink(replies![0]!).index;
}
