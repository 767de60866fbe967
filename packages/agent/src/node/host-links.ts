/** Links of the node that networks outside of the cluster may be behind, as facts. */
import { isDeepStrictEqual } from 'node:util';
import type { HostLinkFact } from '@podwire/network-contract';
import type { HostView } from './host-view.js';

/** By their names. */
export type HostLinks = ReadonlyMap<string, HostLinkFact>;

/** A node has as many links of its own as pods: they are left out. Pure. */
export const readHostLinks = ({ links }: Pick<HostView, 'links'>): HostLinks =>
  new Map(
    links.flatMap(({ name, mac, mtu, own, loopback }) =>
      own || loopback || mac === undefined ? [] : [[name, { mac, mtu }]],
    ),
  );

/** Names of links that have come, gone or changed. Pure. */
export const findChangedLinks = (before: HostLinks, now: HostLinks): string[] =>
  [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => !isDeepStrictEqual(before.get(name), now.get(name)),
  );
