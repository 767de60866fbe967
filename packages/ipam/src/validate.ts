import {
  addressBits,
  containsPrefix,
  type Family,
  overlaps,
  parsePrefix,
  type Prefix,
  specialKinds,
} from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import type { PoolSpec } from './contract.js';
import { parseReserved } from './pool.js';

/** A problem and its field: `pools[1].cidr`. */
export interface PoolProblem {
  readonly path: string;
  readonly message: string;
}

/** As Calico has it: larger blocks waste addresses, smaller ones cost a route each. */
const blockSizes: Readonly<Record<Family, readonly [number, number]>> = { 4: [20, 32], 6: [116, 128] };

/**
 * Everything that is wrong with the pools of one network; nothing when they can be used. `pathOf` names a pool's place
 * in the configuration.
 */
export function validatePools(
  pools: readonly PoolSpec[],
  pathOf: (index: number) => string = (index) => `pools[${index}]`,
): PoolProblem[] {
  return [
    ...pools.flatMap((pool, index) => validatePool(pool, pathOf(index))),
    ...findDoubledNames(pools, pathOf),
    ...findOverlaps(pools.map((pool, index) => ({ path: `${pathOf(index)}.cidr`, cidr: pool.cidr }))),
  ];
}

/** The same as lines of text. */
export function describeProblems(pools: readonly PoolSpec[]): string[] {
  return validatePools(pools).map(({ path, message }) => `${path}: ${message}`);
}

function validatePool(pool: PoolSpec, path: string): PoolProblem[] {
  const problems: PoolProblem[] = [];
  if (pool.name.trim() === '') problems.push({ path: `${path}.name`, message: 'is empty' });
  const prefix = attempt(() => parsePrefix(pool.cidr), `${path}.cidr`, problems);
  if (prefix === undefined) return problems;
  const kinds = specialKinds(prefix);
  if (kinds.length > 0) {
    problems.push({ path: `${path}.cidr`, message: `${pool.cidr} has ${kinds.join(', ')} addresses` });
  }
  return [...problems, ...validateBlockSize(pool, prefix, path), ...validateReserved(pool, prefix, path)];
}

function validateBlockSize(pool: PoolSpec, prefix: Prefix, path: string): PoolProblem[] {
  const [shortest, longest] = blockSizes[prefix.family];
  const size = pool.blockSize;
  const at = `${path}.blockSize`;
  if (!Number.isInteger(size) || size < shortest || size > longest) {
    return [{ path: at, message: `${size} is not between ${shortest} and ${longest} (IPv${prefix.family})` }];
  }
  if (size < prefix.length) {
    const message = `${size} is shorter than the pool ${pool.cidr}; a block is a part of its pool, or all of it`;
    return [{ path: at, message }];
  }
  if (pool.allocation === 'node-cidr' && addressBits(prefix.family) - size < 2) {
    return [{ path: at, message: `${size} leaves no room for a gateway and a pod (node-cidr)` }];
  }
  return [];
}

function validateReserved(pool: PoolSpec, prefix: Prefix, path: string): PoolProblem[] {
  const problems: PoolProblem[] = [];
  for (const [index, text] of (pool.reserved ?? []).entries()) {
    const at = `${path}.reserved[${index}]`;
    const range = attempt(() => parseReserved(text), at, problems);
    if (range === undefined) continue;
    if (!overlaps(range, prefix)) problems.push({ path: at, message: `${text} is not in ${pool.cidr}` });
    if (containsPrefix(range, prefix)) {
      problems.push({
        path: at,
        message: `${text} leaves nothing of ${pool.cidr}; disable the pool instead`,
      });
    }
  }
  return problems;
}

function attempt<T>(read: () => T, path: string, problems: PoolProblem[]): T | undefined {
  try {
    return read();
  } catch (error) {
    problems.push({ path, message: describeError(error) });
    return undefined;
  }
}

/** A name must mean one pool; also not the CIDR of another, since requests may name pools by either. */
function findDoubledNames(pools: readonly PoolSpec[], pathOf: (index: number) => string): PoolProblem[] {
  return pools.flatMap(({ name }, index) => {
    const path = `${pathOf(index)}.name`;
    const first = pools.findIndex((pool) => pool.name === name);
    if (first < index)
      return [{ path, message: `${JSON.stringify(name)} is the name of ${pathOf(first)} too` }];
    const other = pools.findIndex((pool, at) => at !== index && pool.cidr === name);
    return other < 0 ? [] : [{ path, message: `${JSON.stringify(name)} is the CIDR of ${pathOf(other)}` }];
  });
}

/** Prefixes that share addresses, each reported at the later one. What is no prefix is left out. */
export function findOverlaps(
  entries: readonly { readonly path: string; readonly cidr: string }[],
): PoolProblem[] {
  const read = entries.flatMap(({ path, cidr }) => {
    const prefix = attempt(() => parsePrefix(cidr, { loose: true }), path, []);
    return prefix === undefined ? [] : [{ path, cidr, prefix }];
  });
  return read.flatMap((later, index) =>
    read
      .slice(0, index)
      .filter((earlier) => overlaps(earlier.prefix, later.prefix))
      .map((earlier) => ({
        path: later.path,
        message: `${later.cidr} overlaps ${earlier.cidr} (${earlier.path})`,
      })),
  );
}
