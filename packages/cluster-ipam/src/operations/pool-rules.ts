/** Rules for pools. Pure. */
import { parsePrefix } from '@podwire/addresses';
import { completePool, type Pool, poolKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { defaultBlockSize, type PoolSpec, validatePools } from '@podwire/ipam';
import { parseSelector } from '../selector.js';
import { type KnownAddress, metBy } from './known-addresses.js';

/** The settings of a new pool; the others have defaults. */
export type PoolInput = Pick<Pool, 'name' | 'network' | 'cidr'> & Partial<Omit<Pool, 'deleting'>>;

/** Fields of a pool that may be changed later. `maxBlocksPerNode: null` lifts the limit. */
export type PoolPatch = Partial<
  Pick<
    Pool,
    'disabled' | 'natOutgoing' | 'encapsulation' | 'nodeSelector' | 'reserved' | 'assignment' | 'borrowing'
  >
> & { readonly maxBlocksPerNode?: number | null };

const mutable: ReadonlySet<string> = new Set<keyof PoolPatch>([
  'disabled',
  'natOutgoing',
  'encapsulation',
  'nodeSelector',
  'reserved',
  'assignment',
  'borrowing',
  'maxBlocksPerNode',
]);

/**
 * A pool as it will be stored.
 * @param known addresses that are no pod's, and that the pool must reserve if it has them
 * @throws PodwireError POOL_INVALID naming field and rule, also when it overlaps one of `others`
 */
export function buildPool(
  input: PoolInput,
  others: readonly Pool[],
  known: readonly KnownAddress[] = [],
): Pool {
  const pool = checkShape(completePool({ blockSize: defaultBlockSizeOf(input), ...input, deleting: false }));
  checkAmong(pool, others);
  checkKnown(pool, known);
  return pool;
}

/** Only for new pools: an existing one can still be changed; `ipam check` reports the addresses, and nodes do not allocate them. */
function checkKnown(pool: Pool, known: readonly KnownAddress[]): void {
  const [first, ...more] = metBy(pool, known);
  if (first === undefined) return;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more such addresses)`;
  const message = `${pool.cidr} has ${first.address}, the address of ${first.whose}${rest}; choose another prefix, or reserve what is not for pods`;
  throw invalid(pool.name, 'cidr', message);
}

/**
 * The pool with other settings.
 * @throws PodwireError POOL_INVALID, also for what cannot be changed
 */
export function patchPool(pool: Pool, patch: PoolPatch, others: readonly Pool[]): Pool {
  for (const [field, value] of Object.entries(patch)) {
    if (mutable.has(field) || value === pool[field as keyof Pool]) continue;
    throw invalid(pool.name, field, 'cannot be changed; make another pool and `podwire ipam migrate` to it');
  }
  const { maxBlocksPerNode = pool.maxBlocksPerNode, ...rest } = patch;
  const { maxBlocksPerNode: _, ...before } = pool;
  const limit = maxBlocksPerNode === undefined || maxBlocksPerNode === null ? {} : { maxBlocksPerNode };
  // A client that died while deleting it has left it so.
  const deleting = patch.disabled === false ? false : pool.deleting;
  const changed = checkShape({ ...before, ...rest, ...limit, deleting });
  checkAmong(changed, others);
  return changed;
}

function defaultBlockSizeOf({ name, cidr }: PoolInput): number {
  try {
    const prefix = parsePrefix(cidr);
    return Math.max(prefix.length, defaultBlockSize(prefix.family));
  } catch (error) {
    throw invalid(name, 'cidr', (error as Error).message);
  }
}

function checkShape(pool: Pool): Pool {
  const result = poolKind.schema.safeParse(pool);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(pool.name, (issue?.path ?? []).join('.'), issue?.message ?? 'cannot be');
}

function checkAmong(pool: Pool, others: readonly Pool[]): void {
  const all = [...others.filter(({ name }) => name !== pool.name), pool].map(toSpec);
  const own = `pool ${pool.name}`;
  const problems = validatePools(all, (index) => `pool ${all[index]!.name}`);
  const [problem] = problems.filter(({ path }) => path === own || path.startsWith(`${own}.`));
  if (problem !== undefined) throw invalid(pool.name, problem.path.slice(own.length + 1), problem.message);
  checkSelector(pool);
  // The first address of each block is the gateway of its node, and the last is the broadcast address.
  const longest = pool.cidr.includes(':') ? 126 : 30;
  if (pool.allocation === 'node-cidr' && pool.blockSize > longest) {
    throw invalid(pool.name, 'blockSize', `a node's podCIDR needs a gateway and pods: /${longest} at most`);
  }
}

function checkSelector({ name, nodeSelector }: Pool): void {
  try {
    parseSelector(nodeSelector);
  } catch (error) {
    throw invalid(name, 'nodeSelector', (error as Error).message);
  }
}

/** Overlaps and doubled names alone matter of the others. */
const toSpec = ({ name, cidr, blockSize, reserved }: Pool): PoolSpec => ({ name, cidr, blockSize, reserved });

export function invalid(pool: string, field: string, message: string): PodwireError {
  return new PodwireError('POOL_INVALID', [`pool ${pool}`, field, message].filter(Boolean).join(': '), {
    details: { pool, field },
  });
}
