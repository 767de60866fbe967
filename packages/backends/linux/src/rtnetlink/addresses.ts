import {
  addAddressRequest,
  deleteAddressRequest,
  deleteForwardingEntryRequest,
  deleteNeighbourRequest,
  replaceForwardingEntryRequest,
  replaceNeighbourRequest,
} from '@podwire/netlink';
import * as is from '../checks.js';
import { ADDRESS_LABEL } from '../marks.js';
import { defineEntry, type LinkNumbers, missing, onLink } from './kind.js';
import { shownEntry } from './shown.js';
import type { ForwardingEntry, IpAddress, Neighbour } from './resources.js';

const options = { scope: is.scope, marked: is.optional(is.flag) };

export const address = defineEntry<IpAddress>()({
  kind: 'address',
  check: is.resource<IpAddress>({ in: is.side, link: is.link, address: is.prefix, ...options }),
  identify: ({ link, address }) => onLink(link, address),
  words: ({ address, link }) => `address ${address} on ${link}`,
  inPlace: false,
  create: (resource, links) => [
    addAddressRequest({
      link: links.indexOf(resource.in, resource.link),
      address: resource.address,
      scope: resource.scope ?? 'global',
      flags: resource.address.includes(':') ? ['noDad'] : [],
      ...(resource.marked === true ? { label: ADDRESS_LABEL } : {}),
    }),
  ],
  delete: (resource, links) => [
    deleteAddressRequest({ link: links.indexOf(resource.in, resource.link), address: resource.address }),
  ],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    const addresses = link === undefined ? [] : side.addresses(link);
    const isThere = addresses.some(({ address }) => address === resource.address);
    return { hasLink: link !== undefined, isThere, rest: side.describeRest('addresses') };
  },
  shownBy({ address }, now) {
    const entry = shownEntry(now, 'address');
    return entry && { hasLink: true, isThere: entry.address === address, rest: '' };
  },
  compare(resource, { hasLink, isThere, rest }) {
    if (!hasLink) return missing(resource.link);
    return isThere ? undefined : { missing: `${resource.link} does not have ${resource.address}${rest}` };
  },
});

export const neighbour = defineEntry<Neighbour>()({
  kind: 'neighbour',
  check: is.resource<Neighbour>({ in: is.side, link: is.link, address: is.address, mac: is.mac }),
  identify: ({ link, address }) => onLink(link, address),
  words: ({ address, mac, link }) => `neighbour ${address} at ${mac} on ${link}`,
  inPlace: true,
  // Replaced, not added: the kernel may have learned an entry for the address by itself.
  create: (resource, links) => [
    replaceNeighbourRequest({
      link: links.indexOf(resource.in, resource.link),
      address: resource.address,
      mac: resource.mac,
    }),
  ],
  delete: (resource, links) => [
    deleteNeighbourRequest({ link: links.indexOf(resource.in, resource.link), address: resource.address }),
  ],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    return { hasLink: link !== undefined, entry: link && side.neighbour(link, resource.address) };
  },
  shownBy(_resource, now) {
    const entry = shownEntry(now, 'neighbour');
    return entry && { hasLink: true, entry };
  },
  compare(resource, { hasLink, entry }) {
    if (!hasLink) return missing(resource.link);
    if (entry === undefined) return { missing: `${resource.link} does not know ${resource.address}` };
    const agrees = entry.state === 'permanent' && entry.mac === resource.mac;
    return agrees ? undefined : `${resource.address} is at ${entry.mac ?? 'no address'} (${entry.state})`;
  },
});

export const forwardingEntry = defineEntry<ForwardingEntry>()({
  kind: 'forwarding-entry',
  check: is.resource<ForwardingEntry>({ in: is.side, link: is.link, mac: is.mac, remote: is.address }),
  identify: ({ link, mac }) => onLink(link, mac),
  words: ({ mac, remote, link }) => `forwarding entry ${mac} to ${remote} on ${link}`,
  inPlace: true,
  create: (resource, links) => [replaceForwardingEntryRequest(encodeEntry(resource, links))],
  // With the remote: the entry that another peer has put under the same MAC since is not meant.
  delete: (resource, links) => [deleteForwardingEntryRequest(encodeEntry(resource, links))],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    return { hasLink: link !== undefined, entry: link && side.forwardingEntry(link, resource.mac) };
  },
  shownBy(_resource, now) {
    const entry = shownEntry(now, 'forwarding-entry');
    return entry && { hasLink: true, entry };
  },
  compare(resource, { hasLink, entry }) {
    if (!hasLink) return missing(resource.link);
    if (entry === undefined) return { missing: `${resource.link} does not know where ${resource.mac} is` };
    if (entry.remote === resource.remote && entry.permanent) return undefined;
    return `${resource.mac} is at ${entry.remote ?? 'no address'}${entry.permanent ? '' : ', for a while'}`;
  },
});

const encodeEntry = ({ in: place, link, mac, remote }: ForwardingEntry, links: LinkNumbers) => ({
  link: links.indexOf(place, link),
  mac,
  table: 'self' as const,
  remote,
});
