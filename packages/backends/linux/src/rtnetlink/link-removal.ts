/** How links go away, and how one that was renamed comes back. */
import { hasCode } from '@podwire/linux';
import type { DeferredDeletion, Failure } from '@podwire/engine';
import {
  deleteLinkRequest,
  deleteLinkGroupRequest,
  type Link,
  listLinks,
  NetlinkBatchError,
  type NetlinkConnection,
  type NetlinkRequest,
  readLink,
  renameLinkRequest,
  setLinkRequest,
} from '@podwire/netlink';
import type { FaultPoints } from '@podwire/platform';
import { linkKey } from '../keys.js';
import type { Kernel, KernelNamespace, PodNamespace } from '../kernel.js';
import {
  batchOfGroup,
  deletedName,
  DELETION_GROUPS,
  deletionGroup,
  isMarkedForDeletion,
  LIVE_GROUP,
} from '../marks.js';
import type { Dump } from './dump.js';
import type { Ifb, Veth, Vxlan } from './resources.js';
import { together } from './send.js';

export type LinkResource = Veth | Ifb | Vxlan;

/** The name that the link has on the node. */
export const hostNameOf = (link: LinkResource): string => (link.kind === 'veth' ? link.host.name : link.name);

/** A link of that name that is not in our group is foreign. */
export function findOwn(route: NetlinkConnection, name: string): Link | undefined {
  const link = readLink(route, name);
  return link?.group === LIVE_GROUP ? link : undefined;
}

/** The two ends of a veth that the kernel told of when it was made. It gives no index to a new link. */
export interface VethEnds {
  readonly host: number;
  readonly pod: number;
}

/** By the name on the node. They save a removal two questions; what is not among them is looked up. */
export type KnownVeths = Map<string, VethEnds>;

/** Context of a removal. */
export interface RemovalContext {
  readonly kernel: Kernel;
  readonly veths: KnownVeths;
  readonly pod: PodNamespace;
  readonly faults: FaultPoints;
  /** See `SessionContext.defer`. */
  readonly defer: (count: number) => number;
}

/**
 * Takes links out of service without waiting until the kernel has deleted them: down, which takes their routes,
 * neighbours and IPv6 addresses away, and on the host into the group that is deleted later. The pod's end is renamed as
 * well, since the pod must not have an interface of that name any more; it dies with the host's end. On the host a
 * rename waits until the name is needed (see {@link freeName}): it costs the kernel as much as all the rest.
 */
export function takeOutOfService(context: RemovalContext, links: readonly LinkResource[]): Failure[] {
  const own = links.map((resource) => ({ resource, ends: findEnds(context, resource) }));
  context.faults.reach('remove-links:pod');
  const failures = own.flatMap(({ resource, ends }) =>
    together([resource], () => hidePodEnd(context, resource, ends)),
  );
  context.faults.reach('remove-links:host');
  const gone = new Set<OwnLink>();
  const found = own.flatMap(({ ends }) => (ends === undefined ? [] : [ends.near]));
  failures.push(...together(links, () => deleteLater(context, found).forEach((link) => gone.add(link))));
  // Deleted by others, who may have made another in its place.
  const replaced = own.filter(({ ends }) => ends?.far !== undefined && gone.has(ends.near));
  if (replaced.length === 0) return failures;
  const resources = replaced.map(({ resource }) => resource);
  return [...failures, ...takeOutOfService(context, resources)];
}

/** A link of ours, as far as its removal must know it. */
type OwnLink = Pick<Link, 'index' | 'kind'>;

interface Ends {
  readonly near: OwnLink;
  /** Of a veth's end in the pod, where it need not be looked up. */
  readonly far?: number;
}

/**
 * A veth dies with the pod's namespace, and a link that comes to the node from another namespace keeps its index where
 * that is free: without the namespace only the name and the group tell whether a link is ours.
 */
function findEnds({ kernel, veths, pod }: RemovalContext, resource: LinkResource): Ends | undefined {
  const name = hostNameOf(resource);
  const known = veths.get(name);
  veths.delete(name);
  if (known !== undefined && pod.isThere())
    return { near: { index: known.host, kind: 'veth' }, far: known.pod };
  const near = findOwn(kernel.host.route, name);
  return near === undefined ? undefined : { near };
}

/**
 * A VXLAN device is deleted at once: as long as it exists, even down, the kernel refuses another of its port and
 * identifier. A node has one, and it goes when tunnels are given up.
 * @returns those that were gone already
 */
export function deleteLater(
  { kernel, defer }: RemovalContext,
  links: readonly OwnLink[],
): readonly OwnLink[] {
  const tunnels = links.filter(({ kind }) => kind === 'vxlan');
  const others = links.filter(({ kind }) => kind !== 'vxlan');
  const group = others.length === 0 ? 0 : deletionGroup(defer(others.length));
  const gone = send(kernel.host, [
    ...others.map((link) => setLinkRequest(link.index, { up: false, group })),
    ...tunnels.map(({ index }) => deleteLinkRequest(index)),
  ]);
  return [...others, ...tunnels].filter((_, index) => gone.has(index));
}

/** Makes room for another tunnel of the same name; see {@link deleteLater} for why at once. */
export function deleteOwnTunnel({ host }: Kernel, { name }: Vxlan): void {
  const link = findOwn(host.route, name);
  if (link !== undefined) send(host, [deleteLinkRequest(link.index)]);
}

function hidePodEnd({ pod }: RemovalContext, link: LinkResource, ends: Ends | undefined): void {
  if (link.kind !== 'veth' || ends === undefined || !pod.isThere()) return;
  const namespace = pod.open();
  const far = ends.far ?? findFarEnd(namespace, link, ends);
  if (far === undefined) return;
  // Down before the rename: kernels before 6.x refuse to rename a link that is up.
  send(namespace, [setLinkRequest(far, { up: false }), renameLinkRequest(far, deletedName(far))]);
}

/** The pod may have a link of that name that is not the other end of ours. */
function findFarEnd({ route }: KernelNamespace, { pod }: Veth, { near }: Ends): number | undefined {
  const end = readLink(route, pod.name);
  return end?.parent === near.index ? end.index : undefined;
}

/**
 * A link that vanishes between looking and acting has died with its namespace.
 * @returns which requests were about such a link
 */
function send(namespace: KernelNamespace, requests: readonly NetlinkRequest[]): ReadonlySet<number> {
  if (requests.length === 0) return new Set();
  try {
    namespace.route.request(requests);
    return new Set();
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    const serious = error.failures.filter((failure) => failure.code !== 'ENODEV');
    if (serious.length > 0) throw new NetlinkBatchError(serious);
    return new Set(error.failures.map(({ index }) => index));
  }
}

/**
 * Takes a name from a link that waits for deletion. Says whether the name is free now; the deletion may have been
 * faster.
 */
export function freeName({ host }: Kernel, wanted: LinkResource): boolean {
  const link = readLink(host.route, hostNameOf(wanted));
  if (link === undefined) return true;
  if (!isMarkedForDeletion(link)) return false;
  send(host, [renameLinkRequest(link.index, deletedName(link.index))]);
  return true;
}

/**
 * A veth that was renamed on the host gets its name back, and everything on it lives on. Where that fails, the link is
 * made anew as if it were gone. It is found from the pod by an index that the pod can forge.
 * @param isOwned whether an owner has a link of that key: it must not lose it to such a pod
 */
export function restoreName(
  { host }: Kernel,
  pod: PodNamespace,
  veth: Veth,
  isOwned: (key: string) => boolean,
): void {
  if (!pod.isThere() || readLink(host.route, veth.host.name) !== undefined) return;
  const end = readLink(pod.open().route, veth.pod.name);
  const near = end?.parent === undefined ? undefined : readLink(host.route, end.parent);
  if (near?.group !== LIVE_GROUP || isOwned(linkKey('host', near.name))) return;
  // Kernels before 6.2 rename no link that is up. It comes up again with the rest of the repair.
  const rename = renameLinkRequest(near.index, veth.host.name);
  if (tryAll(host, [rename])) return;
  tryAll(host, [setLinkRequest(near.index, { up: false }), rename]);
}

function tryAll({ route }: KernelNamespace, requests: readonly NetlinkRequest[]): boolean {
  try {
    route.request(requests);
    return true;
  } catch (error) {
    if (error instanceof NetlinkBatchError) return false;
    throw error;
  }
}

/**
 * The death of a link costs the kernel a grace period of some 20 ms, which links that die in one request share. The
 * request blocks a pool thread, not the caller; but the kernel holds its rtnl lock for some 0.17 ms for each link of it
 * (measured): 32 links hold it for some 5 ms.
 */
export function createLinkDeletion({ host, background }: Kernel): DeferredDeletion {
  return {
    batches: DELETION_GROUPS,
    batchSize: 32,
    async list(_options, snapshot) {
      const links =
        (snapshot as Dump | undefined)?.deletedLinks() ?? listLinks(host.route).filter(isMarkedForDeletion);
      return Promise.resolve([...new Set(links.map(({ group }) => batchOfGroup(group!)))]);
    },
    async delete(batch, { signal }) {
      try {
        await background.requestAsync([deleteLinkGroupRequest(deletionGroup(batch))], signal);
      } catch (error) {
        if (!hasCode(error, 'ENODEV')) throw error; // none is left: their namespaces died first
      }
    },
  };
}
