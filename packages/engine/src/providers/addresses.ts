import { addAddress, deleteAddress, deleteNeighbour, replaceNeighbour } from '@podwire/netlink';
import type { IpAddress, Neighbour } from '../resource.js';
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
    const found = side.neighbours(link).find((entry) => entry.address === resource.address);
    if (found === undefined) return { missing: `${resource.link} does not know ${resource.address}` };
    const agrees = found.state === 'permanent' && found.mac === resource.mac;
    return agrees ? undefined : `${resource.address} is at ${found.mac ?? 'no address'} (${found.state})`;
  },
};
