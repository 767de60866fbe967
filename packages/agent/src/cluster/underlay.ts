/** Where other nodes reach this one. */
import {
  addressBits,
  type Family,
  familyOf,
  formatAddress,
  isOfContainers,
  parseInterfaceAddress,
} from '@podwire/addresses';
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
type Earlier = Pick<UnderlayView, 'ipv4' | 'ipv6'>;

/**
 * The underlay as the configuration wants it: the named addresses, or those of the named link; else those of the uplink.
 * @param earlier the node's addresses so far: they stay as long as the link has them, whatever the kernel lists first
 * @throws PodwireError AGENT_NOT_READY when the host has no such address (yet)
 */
export function chooseUnderlay(
  host: HostView,
  addresses: readonly LinkAddress[],
  wanted: Wanted,
  earlier: Earlier = {},
): UnderlayView {
  const names = typeof wanted === 'string' ? [wanted] : (wanted ?? []);
  const usable = addresses.filter(({ global, passing }) => global && !passing);
  // An uplink that has joined a bridge is meant with its addresses, which are on the bridge.
  const link =
    host.links.find(({ uplink }) => uplink !== undefined && uplink === names[0]) ??
    host.links.find(({ name }) => name === names[0]);
  if (link !== undefined) return underlayOf(link, usable, earlier);
  if (names.length > 0) return namedUnderlay(host, addresses, names);
  return defaultUnderlay(host, usable, earlier);
}

/** Without a default route: the one link that other machines can be behind. */
function defaultUnderlay(host: HostView, usable: readonly LinkAddress[], earlier: Earlier): UnderlayView {
  const uplinks = findUplinks(host);
  const others = host.links.filter(
    ({ index, up, loopback, own }) => up && !loopback && !own && usable.some(({ link }) => link === index),
  );
  const own = others.filter(({ name }) => !isOfContainers(name));
  const candidates = [uplinks, own, others].find(({ length }) => length > 0) ?? [];
  if (candidates.length === 1 || uplinks.length > 1) return underlayOf(candidates[0]!, usable, earlier);
  const names = candidates.map(({ name }) => name).join(', ');
  const why = candidates.length === 0 ? 'no interface has a global address' : `it may be any of ${names}`;
  throw notReady(
    `there is no default route to tell the address of this node, and ${why}; set cluster.address`,
  );
}

function underlayOf(link: HostLink, usable: readonly LinkAddress[], earlier: Earlier): UnderlayView {
  const listed = usable.filter(({ link: index }) => index === link.index).map(({ address }) => address);
  return view(link, chooseOf(4, listed, earlier.ipv4), chooseOf(6, listed, earlier.ipv6));
}

/** An address of its own length is one that moves between nodes, most of the time, and says nothing of a segment. */
function chooseOf(
  family: Family,
  listed: readonly string[],
  earlier: string | undefined,
): string | undefined {
  const candidates = listed.filter((address) => familyOf(address) === family);
  if (earlier !== undefined && candidates.includes(earlier)) return earlier;
  return candidates.find((address) => !address.endsWith(`/${addressBits(family)}`)) ?? candidates[0];
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
