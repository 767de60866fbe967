import { hasCode } from '@podwire/linux';
import {
  decodeLink,
  deleteLink,
  getLink,
  type Link,
  NetlinkBatchError,
  type NetlinkRequest,
  renameLink,
  setLink,
} from '@podwire/netlink';
import type { EngineContext } from './context.js';
import type { KernelNamespace } from './kernel.js';
import { hostEndOf } from './link-resource.js';
import { doomedName, isDoomed, LIVE_GROUP } from './marks.js';
import type { LinkReaper } from './reaper.js';
import type { LinkResource, Vxlan } from './resource.js';
import type { Failure } from './failure.js';
import type { Session } from './session.js';

/**
 * Takes links off the network without waiting for the kernel to bury them: down, which takes their routes, neighbours and
 * IPv6 addresses away, and on the host into the group that the reaper deletes. The pod's end is renamed as well, since the pod
 * must not have an interface of that name any more; it dies with the host's end. On the host a rename waits until somebody
 * wants the name (see {@link clearDoomedName}): it costs the kernel as much as all the rest.
 */
export function doomLinks(
  context: EngineContext,
  reaper: LinkReaper,
  session: Session,
  links: readonly LinkResource[],
): Failure[] {
  const living = new Map(links.map((link) => [link, findOwn(session, hostEndOf(link))]));
  context.faults.reach('doom:pod');
  const failures = links.flatMap((link) =>
    attempt([link], () => retirePodEnd(session, link, living.get(link))),
  );
  context.faults.reach('doom:host');
  const doomed = [...living.values()].flatMap((link) => (link === undefined ? [] : [link]));
  return [...failures, ...attempt(links, () => buryLinks(reaper, session.namespace('host'), doomed))];
}

/**
 * Takes host links off the network and hands them to the reaper. A VXLAN device dies at once: as long as it exists, even down,
 * the kernel refuses another of its port and identifier. There is one of a node, and it goes when tunnels are given up.
 */
export function buryLinks(reaper: LinkReaper, host: KernelNamespace, links: readonly Link[]): void {
  const tunnels = links.filter(({ kind }) => kind === 'vxlan');
  const others = links.filter(({ kind }) => kind !== 'vxlan');
  const group = others.length === 0 ? 0 : reaper.doom(others.length);
  send(host, [
    ...others.map((link) => setLink(link.index, { up: false, group })),
    ...tunnels.map(({ index }) => deleteLink(index)),
  ]);
}

/** Hands the reaper what an earlier life of the agent had doomed and not yet deleted. */
export function adoptDoomed(reaper: LinkReaper, links: readonly Link[]): void {
  for (const link of links.filter(isDoomed)) reaper.adopt(link.group!);
}

/** A link of that name that is not in our group is somebody else's. */
function findOwn(session: Session, name: string): Link | undefined {
  const link = findLink(session.namespace('host'), name);
  return link?.group === LIVE_GROUP ? link : undefined;
}

export const isOwnLink = (session: Session, link: LinkResource): boolean =>
  findOwn(session, hostEndOf(link)) !== undefined;

/** Makes room for another tunnel of the same name; see {@link buryLinks} for why at once. */
export function deleteOwnTunnel(session: Session, { name }: Vxlan): void {
  const link = findOwn(session, name);
  if (link !== undefined) send(session.namespace('host'), [deleteLink(link.index)]);
}

/** The pod may have a link of that name that is not the other end of ours. */
function retirePodEnd(session: Session, link: LinkResource, hostEnd: Link | undefined): void {
  if (link.kind !== 'veth' || hostEnd === undefined || !session.reachesPod()) return;
  const pod = session.namespace('pod');
  const end = findLink(pod, link.pod.name);
  if (end?.parent === hostEnd.index) send(pod, retirement(end));
}

function attempt(links: readonly LinkResource[], work: () => void): Failure[] {
  try {
    work();
    return [];
  } catch (error) {
    return links.map((resource) => ({ resource, error }));
  }
}

/** A link that vanishes between looking and acting has died with its namespace. */
function send(namespace: KernelNamespace, requests: readonly NetlinkRequest[]): void {
  if (requests.length === 0) return;
  try {
    namespace.route.request(requests);
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    const serious = error.failures.filter((failure) => failure.code !== 'ENODEV');
    if (serious.length > 0) throw new NetlinkBatchError(serious);
  }
}

/** Down before the rename: kernels before 6.x refuse to rename a link that is up. */
function retirement(link: Link): NetlinkRequest[] {
  return [setLink(link.index, { up: false }), renameLink(link.index, doomedName(link.index))];
}

/** Takes its name from a doomed link. Says whether the name is free now; the reaper may have been faster. */
export function clearDoomedName(session: Session, wanted: LinkResource): boolean {
  const host = session.namespace('host');
  const link = findLink(host, hostEndOf(wanted));
  if (link === undefined) return true;
  if (!isDoomed(link)) return false;
  send(host, [renameLink(link.index, doomedName(link.index))]);
  return true;
}

export function findLink(namespace: KernelNamespace, nameOrIndex: string | number): Link | undefined {
  try {
    return namespace.route
      .request([getLink(nameOrIndex)])
      .flat()
      .map(decodeLink)[0];
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
  }
}
