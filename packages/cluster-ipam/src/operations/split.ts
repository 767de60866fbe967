/** Cuts a pool into equal parts, while its blocks are in use. */
import type { Pool, Stored, Workload } from '@podwire/cluster-state';
import { workloadKind } from '@podwire/cluster-state';
import { containsPrefix, formatPrefix, overlaps, parsePrefix, splitPrefix } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { type Condition, encodeObject, type Write } from '@podwire/store';
import { type ClusterAccess, retryOnConflict, roomOf } from './access.js';
import { buildPool, invalid } from './pool-rules.js';
import { beginPoolChange, commitPoolChange, poolValues, putPool, requirePool } from './pools.js';
import { prefixFrom } from './text.js';

/**
 * NAME becomes NAME-1, NAME-2, … with its settings. Blocks stay as they are: the pool of a block is the one whose cidr holds it.
 * Workloads that name the pool name its parts afterwards. All in one transaction.
 * @param into a power of two
 * @throws PodwireError POOL_UNKNOWN, POOL_INVALID
 */
export async function splitPool(
  access: ClusterAccess,
  name: string,
  into: number,
  signal: AbortSignal,
): Promise<Pool[]> {
  return retryOnConflict(`the split of pool ${name}`, async () => {
    const change = await beginPoolChange(access, signal);
    const { key, value: pool, revision } = requirePool(change.pools, name);
    if (pool.deleting) throw new PodwireError('POOL_IN_USE', `pool ${name} is being deleted`);
    const parts = planSplit(pool, into, poolValues(change.pools));
    const workloads = change.snapshot.workloads.filter(({ value }) => value.pools.includes(name));
    const conditions: Condition[] = [
      { key, expect: revision },
      ...parts.map((part): Condition => ({ key: access.keys.pool(part.name), expect: 'absent' })),
      ...workloads.map((workload): Condition => ({ key: workload.key, expect: workload.revision })),
    ];
    const writes: Write[] = [
      { op: 'delete', key },
      ...parts.map((part) => putPool(access, part)),
      ...workloads.map((workload) => renamePool(workload, name, parts)),
    ];
    if (Math.max(conditions.length, writes.length) + 1 > roomOf(access)) {
      throw invalid(
        name,
        'into',
        `${into} parts and ${workloads.length} workloads are too many for one transaction`,
      );
    }
    return (await commitPoolChange(access, change, { conditions, writes }, signal)) ? parts : undefined;
  });
}

/** The parts. Pure. @throws PodwireError POOL_INVALID */
function planSplit(pool: Pool, into: number, all: readonly Pool[]): Pool[] {
  const bits = Math.log2(into);
  if (!Number.isInteger(bits) || bits < 1 || bits > 8) {
    throw invalid(pool.name, 'into', `${into} is no power of two from 2 to 256`);
  }
  const length = prefixFrom(pool.cidr).length + bits;
  if (length > pool.blockSize) {
    throw invalid(
      pool.name,
      'into',
      `${into} parts would be /${length}, smaller than a block (/${pool.blockSize})`,
    );
  }
  const others = all.filter((other) => other.name !== pool.name);
  return [...splitPrefix(parsePrefix(pool.cidr), length)].map((cidr, index) =>
    planPart(pool, formatPrefix(cidr), `${pool.name}-${index + 1}`, others),
  );
}

function planPart(pool: Pool, cidr: string, name: string, others: readonly Pool[]): Pool {
  if (others.some((other) => other.name === name)) {
    throw invalid(pool.name, 'name', `its part ${name} has the name of another pool`);
  }
  const part = prefixFrom(cidr);
  const touching = pool.reserved.filter((each) => overlaps(prefixFrom(each), part));
  const covering = touching.find((each) => containsPrefix(prefixFrom(each), part));
  if (covering !== undefined) {
    throw invalid(
      pool.name,
      'reserved',
      `${covering} leaves nothing of the part ${cidr}; split it into fewer`,
    );
  }
  const { deleting: _, ...settings } = pool;
  return buildPool({ ...settings, name, cidr, reserved: touching }, others);
}

function renamePool({ key, value }: Stored<Workload>, name: string, parts: readonly Pool[]): Write {
  const pools = value.pools.flatMap((pool) => (pool === name ? parts.map((part) => part.name) : [pool]));
  return { op: 'put', key, value: encodeObject(workloadKind, { ...value, pools }) };
}
