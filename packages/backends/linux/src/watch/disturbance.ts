/** What others have changed in the kernel, in the words of resources. */
import type { Resource } from '@podwire/engine';
import type { Link } from '@podwire/netlink';
import { LIVE_GROUP } from '../marks.js';

/** Who has caused it, as far as the kernel tells. */
export interface Culprit {
  /** Port id of its netlink socket, mostly the id of its process; 0 for the kernel itself. */
  readonly port: number;
  /** Name of the program. */
  readonly name?: string;
}

/** What happened, and what tells whose it is. */
export type Disturbance = { readonly by: Culprit } & (
  | {
      readonly sort: 'link';
      readonly link: string;
      /** As it is now; absent when it is gone. */ readonly now?: Link;
    }
  /** An address, neighbour, qdisc, filter or forwarding entry of a link of the node. */
  | { readonly sort: 'on-link'; readonly link: string }
  | { readonly sort: 'route'; readonly destination: string; readonly link?: string }
  /** In the namespace that holds the other end of this link. */
  | { readonly sort: 'in-pod'; readonly link: string }
  /** Forwarding of the node was switched off. */
  | { readonly sort: 'forwarding' }
  /** Something in a table of Podwire's. */
  | { readonly sort: 'table' }
  /** Something in a chain that Podwire has put rules of its own into. */
  | { readonly sort: 'shared-chain' }
  /** More than could be kept: anything may have happened. */
  | { readonly sort: 'lost' }
);

/** Hears of changes that others make; what this program itself does is left out. */
export interface KernelWatch {
  /** What has come since the last call. Never waits. `more`: there is more to read at once. */
  read(): { readonly disturbances: readonly Disturbance[]; readonly more: boolean };
  close(): void;
}

/** Whether a link that is there is as these resources want it; also when none of them means it. */
export function isLinkAsWanted(resources: readonly Resource[], link: Link): boolean {
  return resources.every((resource) => {
    switch (resource.kind) {
      case 'veth': {
        const { host, mtu } = resource;
        return host.name !== link.name || (isLive(link) && link.mac === host.mac && link.mtu === mtu);
      }
      case 'ifb':
        return resource.name !== link.name || (isLive(link) && link.mtu === resource.mtu);
      case 'vxlan': {
        const { name, mac, mtu } = resource;
        return name !== link.name || (isLive(link) && link.mac === mac && link.mtu === mtu);
      }
      default:
        return true;
    }
  });
}

const isLive = ({ up, group, master }: Link): boolean => up && group === LIVE_GROUP && master === undefined;
