import {
  addAddress,
  deleteAddress,
  deleteForwardingEntry,
  deleteNeighbour,
  replaceForwardingEntry,
  replaceNeighbour,
} from '@podwire/netlink';
import type { ForwardingEntry, IpAddress, Neighbour } from '../resource.js';
import type { Session } from '../session.js';
import { missing } from './links.js';
import type { Provider } from './provider.js';

export const address: Provider<IpAddress> = {
  create: (resource, session) => [
    addAddress({
      link: session.indexOf(resource.in, resource.link),
      address: resource.address,
      scope: resource.scope ?? 'global',
      flags: resource.address.includes(':') ? ['noDad'] : [],
    }),
  ],
  remove: (resource, session) => [
    deleteAddress({ link: session.indexOf(resource.in, resource.link), address: resource.address }),
  ],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    if (link === undefined) return missing(resource.link);
    const found = side.addresses(link).some((entry) => entry.address === resource.address);
    return found ? undefined : { missing: `${resource.link} does not have ${resource.address}` };
  },
};

export const neighbour: Provider<Neighbour> = {
  // Replaced, not added: the kernel may have learned an entry for the address by itself.
  create: (resource, session) => [
    replaceNeighbour({
      link: session.indexOf(resource.in, resource.link),
      address: resource.address,
      mac: resource.mac,
    }),
  ],
  remove: (resource, session) => [
    deleteNeighbour({ link: session.indexOf(resource.in, resource.link), address: resource.address }),
  ],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    if (link === undefined) return missing(resource.link);
    const found = side.neighbour(link, resource.address);
    if (found === undefined) return { missing: `${resource.link} does not know ${resource.address}` };
    const agrees = found.state === 'permanent' && found.mac === resource.mac;
    return agrees ? undefined : `${resource.address} is at ${found.mac ?? 'no address'} (${found.state})`;
  },
};

export const forwardingEntry: Provider<ForwardingEntry> = {
  create: (resource, session) => [replaceForwardingEntry(encodeEntry(resource, session))],
  // With the remote: what another peer has put under the same MAC since is not meant.
  remove: (resource, session) => [deleteForwardingEntry(encodeEntry(resource, session))],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    if (link === undefined) return missing(resource.link);
    const found = side.forwardingEntry(link, resource.mac);
    if (found === undefined) return { missing: `${resource.link} does not know where ${resource.mac} is` };
    if (found.remote === resource.remote && found.permanent) return undefined;
    return `${resource.mac} is at ${found.remote ?? 'no address'}${found.permanent ? '' : ', for a while'}`;
  },
};

const encodeEntry = ({ in: side, link, mac, remote }: ForwardingEntry, session: Session) => ({
  link: session.indexOf(side, link),
  mac,
  table: 'self' as const,
  remote,
});
