/** Identity of this node: made once with its state directory, so it lives as long as the network of its pods. */
import { objectName } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { z } from 'zod';
import type { TunnelView } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { readJson, type StateFiles } from './state-files.js';

const fileName = 'node.json';

const addressPair = z.object({ ipv4: z.string().optional(), ipv6: z.string().optional() });

const schema = z.object({
  version: z.literal(1),
  node: z.string(),
  instance: z.string().min(1).max(64),
  tunnel: addressPair,
  addresses: addressPair.default({}),
});

export interface AddressPair {
  readonly ipv4?: string;
  readonly ipv6?: string;
}

export interface Identity {
  readonly node: string;
  /** Two agents of one name have different ones. */
  readonly instance: string;
  /** Of the node's end of tunnels. */
  readonly tunnel: AddressPair;
  /** Where other nodes reach it, ADDRESS/LENGTH: kept as long as the node has them. */
  readonly addresses: AddressPair;
}

/**
 * Reads `node.json`, or makes the node up. A state directory of another name is another node's.
 * @throws PodwireError CONFIG_INVALID for a name that cannot be in the store; RECORD_IO
 */
export function openIdentity(
  files: StateFiles,
  node: string,
  random: (bytes: number) => Uint8Array,
): Identity {
  if (!objectName.safeParse(node).success) {
    throw new PodwireError(
      'CONFIG_INVALID',
      `nodeName: ${JSON.stringify(node)} must end with a letter or digit`,
    );
  }
  const found = schema.safeParse(readJson(files, fileName));
  if (found.success && found.data.node === node) return withoutVersion(found.data);
  const identity = { node, instance: Buffer.from(random(16)).toString('hex'), tunnel: {}, addresses: {} };
  saveIdentity(files, identity);
  return identity;
}

function withoutVersion({ node, instance, tunnel, addresses }: z.output<typeof schema>): Identity {
  return { node, instance, tunnel: compact(tunnel), addresses: compact(addresses) };
}

/** @throws PodwireError RECORD_IO */
export function saveIdentity(files: StateFiles, identity: Identity): void {
  files.write(fileName, JSON.stringify({ version: 1, ...identity }));
}

/** As models and peers see it; undefined while it has no address, and on a node whose models have no tunnels. */
export function viewTunnel({ tunnel }: Identity, mac: string | undefined): TunnelView | undefined {
  if (mac === undefined || (tunnel.ipv4 === undefined && tunnel.ipv6 === undefined)) return undefined;
  return { mac, ...tunnel };
}
