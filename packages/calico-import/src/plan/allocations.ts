/** Use of each address of Calico's blocks. */
import { type Address, addressAt, formatAddress, parsePrefix, prefixSize } from '@podwire/addresses';
import type { Allocation } from '@podwire/cluster-state';
import type { DumpedBlock } from '../read/dump.js';
import type { Attribute } from '../read/shapes.js';
import type { Diagnostics } from '../diagnostics.js';

/** An address in use. */
export interface Use {
  readonly address: Address;
  /** Where; undefined: Calico does not say. */
  readonly node: string | undefined;
  readonly entry: Allocation;
}

/** `host`: a node's. `virtual`: of something that is no node (load balancers). `none`: without an owner. */
export type Owner =
  | { readonly type: 'host'; readonly node: string }
  | { readonly type: 'virtual'; readonly name: string }
  | { readonly type: 'none' };

export function ownerOf({ spec }: DumpedBlock, about: Diagnostics): Owner {
  const { hostAffinity } = spec;
  const text = spec.affinity || (hostAffinity ? `host:${hostAffinity}` : '');
  if (text === '') return { type: 'none' };
  const [, type, name = ''] = /^(host|virtual):(.+)$/.exec(text) ?? [];
  if (type === 'host') return { type, node: name };
  if (type === 'virtual') return { type, name };
  about.error('affinity', `${JSON.stringify(text)} is neither host:NODE nor virtual:NAME`);
  return { type: 'none' };
}

/**
 * The addresses in use of a block. Tunnels, reserved addresses of Windows and cooling addresses get one note each
 * instead.
 * @returns undefined when the block does not fit its own prefix
 */
export function usesOf(block: DumpedBlock, about: Diagnostics): Use[] | undefined {
  const { allocations, attributes, cidr } = block.spec;
  const prefix = parsePrefix(cidr);
  if (BigInt(allocations.length) !== prefixSize(prefix)) {
    about.error(
      'allocations',
      `has ${allocations.length} entries, and ${cidr} has ${prefixSize(prefix)} addresses`,
    );
    return undefined;
  }
  const left = new Map<string, string[]>();
  const uses = allocations.flatMap((index, ordinal): Use[] => {
    if (index === null) return [];
    const address = addressAt(prefix.address, BigInt(ordinal));
    const attribute = attributes[index];
    if (attribute === undefined) {
      about.error(`allocations.${ordinal}`, `is ${index}, and there are ${attributes.length} attributes`);
      return [];
    }
    const reason = reasonToLeave(attribute);
    if (reason === undefined) return [toUse(address, attribute)];
    left.set(reason, [...(left.get(reason) ?? []), formatAddress(address)]);
    return [];
  });
  for (const [reason, addresses] of left) about.note(`${addresses.join(', ')}: ${reason}`);
  return uses;
}

function reasonToLeave({ handle_id, releasedAt, ...attribute }: Attribute): string | undefined {
  const type = ownerAttributes(attribute)['type'];
  if (releasedAt != null) return 'released, and cooling down: free';
  if (type !== undefined && /TunnelAddress$/.test(type))
    return `address of a tunnel (${type}): left out, nodes get new ones`;
  // Calico compares it without regard to case.
  if (handle_id?.toLowerCase() === 'windows-reserved-ipam-handle') return 'reserved for Windows: left out';
  return undefined;
}

/** A virtual machine on its way between nodes has two owners. */
const ownerAttributes = ({
  secondary,
  alternateOwnerAttrs,
}: Pick<Attribute, 'secondary' | 'alternateOwnerAttrs'>): Readonly<Record<string, string>> =>
  secondary ?? alternateOwnerAttrs ?? {};

function toUse(address: Address, attribute: Attribute): Use {
  const { node, pod, namespace, timestamp } = ownerAttributes(attribute);
  const text = formatAddress(address);
  return {
    address,
    node: node === '' ? undefined : node,
    entry: {
      address: text,
      owner: attribute.handle_id || `calico/${text}`,
      ...(pod === undefined ? {} : { pod: `${namespace ?? 'default'}/${pod}` }),
      since: parseTimestamp(timestamp),
    },
  };
}

/** As Go prints times: `2024-05-06 07:08:09.123456789 +0000 UTC`. 0 for what is none. */
function parseTimestamp(text: string | undefined): number {
  const [, date, time, fraction = ''] =
    /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?/.exec(text ?? '') ?? [];
  const parsed = Date.parse(`${date}T${time}${fraction}Z`);
  return Number.isNaN(parsed) ? 0 : parsed;
}

/** A block's sequence number begins as the nanoseconds since the epoch at which it was made. */
export function claimTimeOf({ createdAt, spec }: DumpedBlock): number {
  const claimed = Date.parse(spec.affinityClaimTime ?? '');
  if (!Number.isNaN(claimed)) return claimed;
  if (createdAt > 0) return createdAt;
  const { sequenceNumber } = spec;
  return sequenceNumber != null && sequenceNumber > 1e18 && sequenceNumber < 4e18
    ? Math.trunc(sequenceNumber / 1e6)
    : 0;
}
