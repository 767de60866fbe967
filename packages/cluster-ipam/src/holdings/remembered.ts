/** What a holdings file says besides cidrs. Pure. */
import { containsPrefix, formatPrefix, parsePrefix } from '@podwire/addresses';
import { type Pool, poolKind } from '@podwire/cluster-state';

/** None when it cannot be read. */
export function readPoolObject(value: unknown): Pool[] {
  const found = poolKind.schema.safeParse(value);
  return found.success ? [found.data] : [];
}

/** A single address of a pool with larger blocks. */
export function isLoan(pools: readonly unknown[], cidr: string): boolean {
  return lenderOf(pools, cidr) !== cidr;
}

/** The block that a borrowed address is of, as far as the pools say. */
export function lenderOf(pools: readonly unknown[], cidr: string): string {
  const prefix = parsePrefix(cidr);
  const pool = pools.flatMap(readPoolObject).find((each) => containsPrefix(parsePrefix(each.cidr), prefix));
  const bits = prefix.family === 4 ? 32 : 128;
  if (pool === undefined || prefix.length < bits || pool.blockSize === bits) return cidr;
  const value = (prefix.address.value >> BigInt(bits - pool.blockSize)) << BigInt(bits - pool.blockSize);
  return formatPrefix({
    family: prefix.family,
    address: { family: prefix.family, value },
    length: pool.blockSize,
  });
}
