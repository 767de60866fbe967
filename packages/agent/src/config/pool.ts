import { parsePrefix } from '@podwire/addresses';
import { defaultBlockSize, findOverlaps, type PoolProblem, validatePools } from '@podwire/ipam';
import { z } from 'zod';
import { name } from './fields.js';

const poolObject = z.strictObject({
  cidr: z.string().meta({
    description: 'Addresses to hand out, as ADDRESS/LENGTH, IPv4 or IPv6.',
    example: '10.244.0.0/16',
  }),
  blockSize: z.int().optional().meta({
    description:
      'Prefix length of the blocks that a node claims whole: 20 to 32 for IPv4, 116 to 128 for IPv6. 26 and 122 by default (or the pool itself, when it is smaller).',
    example: 26,
  }),
  name: name
    .optional()
    .meta({ description: 'How requests and reports call the pool. The cidr by default.', example: 'web' }),
  reserved: z.array(z.string()).default([]).meta({
    description: 'Prefixes and single addresses inside the pool that are never handed out.',
    example: '[10.244.0.0/28]',
  }),
  disabled: z.boolean().default(false).meta({
    description: 'No new addresses from this pool; pods that have one keep it.',
  }),
  allocation: z.enum(['blocks', 'node-cidr']).default('blocks').meta({
    description:
      '`node-cidr`: one block of this pool is on a bridge or the like, so its first address, the second (the gateway) and the last one are not handed out: for main plugins that ask `podwire-ipam` for addresses.',
  }),
  natOutgoing: z.boolean().optional().meta({
    description: "Overrides the network's `natOutgoing` for this pool.",
  }),
});

export const pool = poolObject.transform((value) => ({
  ...value,
  name: value.name ?? value.cidr,
  blockSize: value.blockSize ?? blockSizeFor(value.cidr),
}));

/** An invalid prefix is reported by {@link poolProblems}; any number will do for it. */
function blockSizeFor(cidr: string): number {
  try {
    const { family, length } = parsePrefix(cidr);
    return Math.max(defaultBlockSize(family), length);
  } catch {
    return defaultBlockSize(4);
  }
}

type NetworkPools = readonly { readonly pools: readonly z.output<typeof pool>[] }[];

/** Everything that is wrong with the pools of all networks, by IPAM's own rules. Pools share one routing table. */
export function poolProblems(networks: NetworkPools): { path: (string | number)[]; message: string }[] {
  const pathOf = (network: number, index: number): string => `[${network}].pools[${index}]`;
  const single = networks.flatMap(({ pools }, at) => validatePools(pools, (index) => pathOf(at, index)));
  const shared = findOverlaps(
    networks.flatMap(({ pools }, at) =>
      pools.map(({ cidr }, index) => ({ path: `${pathOf(at, index)}.cidr`, cidr })),
    ),
  );
  const unique = new Map([...single, ...shared].map((problem) => [JSON.stringify(problem), problem]));
  return [...unique.values()].map(({ path, message }: PoolProblem) => ({ path: splitPath(path), message }));
}

/** `[0].pools[1].cidr` as steps. */
function splitPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? key! : Number(index),
  );
}
