import { NetlinkBatchError, type NetlinkRequest, renameLink, setLink } from '@podwire/netlink';
import { findLink } from './doom.js';
import type { KernelNamespace } from './kernel.js';
import { LIVE_GROUP } from './marks.js';
import type { Veth } from './resource.js';
import type { Session } from './session.js';

/**
 * A veth that was renamed on the host gets its name back, and everything on it lives on. Where it cannot, the link is made anew as
 * if it were gone. It is found from the pod by an index that the pod can forge.
 * @param isWanted whether another endpoint has a link of that name: it must not lose it to such a pod
 */
export function giveNameBack(session: Session, veth: Veth, isWanted: (name: string) => boolean): void {
  if (!session.reachesPod()) return;
  const host = session.namespace('host');
  const end = findLink(session.namespace('pod'), veth.pod.name);
  const near = end?.parent === undefined ? undefined : findLink(host, end.parent);
  if (near?.group !== LIVE_GROUP || isWanted(near.name)) return;
  // Kernels before 6.2 rename no link that is up. It comes up again with the rest of the repair.
  const rename = renameLink(near.index, veth.host.name);
  if (tryAll(host, [rename])) return;
  tryAll(host, [setLink(near.index, { up: false }), rename]);
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
