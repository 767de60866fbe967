import { containsPrefix, hostPrefix, parseAddress, parsePrefix, type Prefix } from '@podwire/addresses';
import { z } from 'zod';
import { name, prefix, prefixOrAddress } from './fields.js';

/** Block sizes as Calico's defaults: 64 addresses each. */
const defaultBlockSize = { 4: 26, 6: 122 } as const;
const addressBits = { 4: 32, 6: 128 } as const;
/** A block's addresses are kept in memory one by one. */
const largestBlockBits = 16;

const poolObject = z.strictObject({
  cidr: prefix.meta({
    description: 'Addresses to hand out, as ADDRESS/LENGTH, IPv4 or IPv6.',
    example: '10.244.0.0/16',
  }),
  blockSize: z.int().min(1).max(128).optional().meta({
    description:
      'Prefix length of the blocks that a node claims whole. 26 for IPv4 and 122 for IPv6 by default (or the pool itself, when it is smaller).',
    example: 26,
  }),
  name: name
    .optional()
    .meta({ description: 'How requests and reports call the pool. The cidr by default.', example: 'web' }),
  reserved: z.array(prefixOrAddress).default([]).meta({
    description: 'Prefixes and single addresses inside the pool that are never handed out.',
    example: '[10.244.0.0/28]',
  }),
  disabled: z.boolean().default(false).meta({
    description: 'No new addresses from this pool; pods that have one keep it.',
  }),
  natOutgoing: z.boolean().optional().meta({
    description: "Overrides the network's `natOutgoing` for this pool.",
  }),
});

type PoolInput = z.output<typeof poolObject>;
type Complain = (path: (string | number)[], message: string) => void;

export const pool = poolObject
  .superRefine((value, context) =>
    checkPool(value, (path, message) => context.addIssue({ code: 'custom', path, message })),
  )
  .transform((value) => {
    const { family, length } = parsePrefix(value.cidr);
    return {
      ...value,
      name: value.name ?? value.cidr,
      blockSize: value.blockSize ?? Math.max(defaultBlockSize[family], length),
    };
  });

function checkPool(value: PoolInput, complain: Complain): void {
  const cidr = tryPrefix(value.cidr);
  if (cidr === undefined) return;
  checkBlockSize(value.blockSize, cidr, complain);
  value.reserved.forEach((text, index) => {
    const inner = tryPrefix(text);
    if (inner !== undefined && !containsPrefix(cidr, inner)) {
      complain(['reserved', index], `${text} lies outside the pool ${value.cidr}`);
    }
  });
}

function checkBlockSize(blockSize: number | undefined, cidr: Prefix, complain: Complain): void {
  if (blockSize === undefined) return;
  const [least, most] = [
    Math.max(cidr.length, addressBits[cidr.family] - largestBlockBits),
    addressBits[cidr.family],
  ];
  if (blockSize < least || blockSize > most) {
    complain(['blockSize'], `must lie between ${least} and ${most} for this pool`);
  }
}

/** Undefined for what its own field has complained about already. */
export function tryPrefix(text: string): Prefix | undefined {
  try {
    return text.includes('/') ? parsePrefix(text) : hostPrefix(parseAddress(text));
  } catch {
    return undefined;
  }
}
