/** Forwarding of the node: its treatment of packets that are not its own, as the kernel reports it now. */
import fs from 'node:fs';
import type { Family } from '@podwire/addresses';
import { isMarkedForDeletion, LIVE_GROUP } from '@podwire/backend-linux';
import { hasCode } from '@podwire/linux';
import { type Link, listLinks, type NetlinkConnection } from '@podwire/netlink';

export interface RouterView {
  readonly bridges: readonly string[];
  /** Values of the parameters that Podwire changes, by keys below /proc/sys. Those of its own links are left out. */
  readonly parameters: Readonly<Record<string, string>>;
}

export const forwardingKeys: Readonly<Record<Family, readonly string[]>> = {
  4: ['net/ipv4/ip_forward', 'net/ipv4/conf/default/forwarding'],
  6: ['net/ipv6/conf/all/forwarding'],
};

export const acceptRaKey = (link: string): string => `net/ipv6/conf/${link}/accept_ra`;

/**
 * The parameter that the kernel changes along with a key of {@link forwardingKeys}: `inet_forward_change` and
 * `addrconf_forward_change` give every link the value of the node, and the first takes redirects from a host only.
 */
export const redirectsKey = 'net/ipv4/conf/all/accept_redirects';
export const linkForwardingKey = (family: Family, link: string): string =>
  `net/ipv${family}/conf/${link}/forwarding`;

/** Reads the network namespace that the connection is bound to, which must be that of the process. */
export function readKernelRouter(connection: NetlinkConnection): RouterView {
  const links = listLinks(connection).filter(isForeign);
  const names = links.map(({ name }) => name);
  const keys = [
    ...forwardingKeys[4],
    ...forwardingKeys[6],
    ...['default', ...names].map(acceptRaKey),
    redirectsKey,
    linkForwardingKey(6, 'default'),
    ...['lo', ...names].flatMap((name) => [linkForwardingKey(4, name), linkForwardingKey(6, name)]),
  ];
  const parameters = Object.fromEntries(keys.flatMap(readParameter));
  return {
    bridges: links.filter(({ kind }) => kind === 'bridge').map(({ name }) => name),
    parameters,
  };
}

const isForeign = ({ name, group }: Link): boolean =>
  name !== 'lo' && group !== LIVE_GROUP && !isMarkedForDeletion({ group });

/** A kernel without IPv6 has no parameters of it, and a link may go at any time. */
function readParameter(key: string): [string, string][] {
  try {
    return [[key, fs.readFileSync(`/proc/sys/${key}`, 'utf8').trim()]];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
