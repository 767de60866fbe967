/** Where other nodes reach this one. */
import { addressBits, type Family, familyOf, formatAddress, parseInterfaceAddress } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { UnderlayView } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { findUplinks, type HostLink, type HostView } from '../node/host-view.js';

/** An address of a link of the host. */
export interface LinkAddress {
  /** Index of the link. */
  readonly link: number;
  /** ADDRESS/LENGTH */
  readonly address: string;
  /** Other machines can be expected to reach it: neither link-local nor of the host alone. */
  readonly global: boolean;
  /** Made by the kernel for a while (RFC 8981), deprecated, or not usable yet. */
  readonly passing: boolean;
}

type Wanted = string | readonly string[] | undefined;

/**
 * The underlay as the configuration wants it: the named addresses, or those of the named link; else those of the uplink.
 * @throws PodwireError AGENT_NOT_READY when the host has no such address (yet)
 */
export function chooseUnderlay(
  host: HostView,
  addresses: readonly LinkAddress[],
  wanted: Wanted,
): UnderlayView {
  const names = typeof wanted === 'string' ? [wanted] : (wanted ?? []);
  const usable = addresses.filter(({ global, passing }) => global && !passing);
  // An uplink that has joined a bridge is meant with its addresses, which are on the bridge.
  const link =
    host.links.find(({ uplink }) => uplink !== undefined && uplink === names[0]) ??
    host.links.find(({ name }) => name === names[0]);
  if (link !== undefined) return underlayOf(link, usable);
  if (names.length > 0) return namedUnderlay(host, addresses, names);
  return defaultUnderlay(host, usable);
}

/** Without a default route: the one link that other machines can be behind. */
function defaultUnderlay(host: HostView, usable: readonly LinkAddress[]): UnderlayView {
  const uplinks = findUplinks(host);
  const others = host.links.filter(
    ({ index, up, loopback, own }) => up && !loopback && !own && usable.some(({ link }) => link === index),
  );
  const candidates = uplinks.length > 0 ? uplinks : others;
  if (candidates.length === 1 || uplinks.length > 1) return underlayOf(candidates[0]!, usable);
  const names = candidates.map(({ name }) => name).join(', ');
  const why = candidates.length === 0 ? 'no interface has a global address' : `it may be any of ${names}`;
  throw notReady(
    `there is no default route to tell the address of this node, and ${why}; set cluster.address`,
  );
}

function underlayOf(link: HostLink, usable: readonly LinkAddress[]): UnderlayView {
  const first = (family: Family): string | undefined =>
    usable.find(({ link: index, address }) => index === link.index && familyOf(address) === family)?.address;
  return view(link, first(4), first(6));
}

/** The configured address is taken, whatever the kernel reports; a prefix length of its own describes the segment. */
function namedUnderlay(
  host: HostView,
  addresses: readonly LinkAddress[],
  names: readonly string[],
): UnderlayView {
  const found = names.map((name) => {
    const [bare, length] = name.split('/');
    const entry = addresses.find(({ address }) => sameAddress(address, bare!));
    if (entry === undefined) throw notReady(`cluster.address: no interface of this node has ${name}`);
    return { link: entry.link, address: length === undefined ? entry.address : `${bare}/${length}` };
  });
  const link = host.links.find(({ index }) => index === found[0]!.link);
  if (link === undefined) throw notReady(`cluster.address: the interface of ${names[0]} is gone`);
  const of = (family: Family): string | undefined =>
    found.find(({ address }) => familyOf(address) === family)?.address;
  return view(link, of(4), of(6));
}

function view({ name, mtu }: HostLink, ipv4: string | undefined, ipv6: string | undefined): UnderlayView {
  if (ipv4 === undefined && ipv6 === undefined) {
    throw notReady(`the interface ${name} has no global address that other nodes could reach`);
  }
  return {
    link: name,
    mtu,
    ...compact({ ipv4, ipv6 }),
  };
}

function sameAddress(entry: string, bare: string): boolean {
  const plain = (text: string): string => formatAddress(parseInterfaceAddress(text).address);
  return plain(entry) === plain(`${bare}/${addressBits(familyOf(bare))}`);
}

const notReady = (message: string): PodwireError => new PodwireError('AGENT_NOT_READY', message);
