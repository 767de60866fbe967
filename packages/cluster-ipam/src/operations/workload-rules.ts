/** Rules for workloads and for their relation to pools. Pure. */
import { containsPrefix } from '@podwire/addresses';
import { type Pool, type Workload, workloadKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type ClusterSnapshot, poolAround } from './snapshot.js';
import { canonicalAddress, prefixFrom } from './text.js';

export type WorkloadInput = Pick<Workload, 'network' | 'namespace' | 'name'> &
  Partial<Pick<Workload, 'addresses' | 'pools' | 'sticky'>>;

/** `network/namespace/name`: as people write it. */
export function nameOfWorkload({ network, namespace, name }: Omit<WorkloadInput, 'addresses'>): string {
  return `${network}/${namespace}/${name}`;
}

/**
 * The workload as it will be stored, with what its pods have now.
 * @throws PodwireError POOL_UNKNOWN, ADDRESS_NOT_IN_POOL, ADDRESS_IN_USE when another workload has an address of it
 */
export function buildWorkload(
  input: WorkloadInput,
  before: Workload | undefined,
  snapshot: Pick<ClusterSnapshot, 'pools' | 'workloads'>,
): Workload {
  const workload = checkShape({
    network: input.network,
    namespace: input.namespace,
    name: input.name,
    addresses: input.addresses ?? before?.addresses ?? [],
    pools: input.pools ?? before?.pools ?? [],
    sticky: input.sticky ?? before?.sticky ?? false,
    assigned: before?.assigned ?? {},
  });
  const addresses = [...new Set(workload.addresses.map(canonicalAddress))];
  for (const name of workload.pools) requirePoolOf(workload, name, snapshot);
  for (const address of addresses) requireAddress(workload, address, snapshot);
  return { ...workload, addresses };
}

/** `web-*` is a beginning; a star elsewhere would be a name that no pod has. */
const nameShape = /^[A-Za-z0-9]([A-Za-z0-9._-]*\*?)$|^\*$/;

function checkShape(workload: Workload): Workload {
  const result = workloadKind.schema.safeParse(workload);
  const [issue] = result.success ? [] : result.error.issues;
  const problem =
    issue === undefined
      ? nameShape.test(workload.name)
        ? undefined
        : "name: no pod's name, or the beginning of names with * at its end"
      : `${issue.path.join('.')}: ${issue.message}`;
  if (problem === undefined) return workload;
  throw new PodwireError('REQUEST_INVALID', `workload ${nameOfWorkload(workload)}: ${problem}`);
}

function requirePoolOf(workload: Workload, name: string, { pools }: Pick<ClusterSnapshot, 'pools'>): void {
  const pool = pools.get(name)?.value;
  if (pool?.network === workload.network) return;
  const own = [...pools.values()].filter(({ value }) => value.network === workload.network);
  const known = own.map(({ value }) => value.name).join(', ') || 'none';
  throw new PodwireError(
    'POOL_UNKNOWN',
    `workload ${nameOfWorkload(workload)}: pools: network ${workload.network} has no pool ${name}; it has ${known}`,
    { details: { pool: name } },
  );
}

function requireAddress(
  workload: Workload,
  address: string,
  { pools, workloads }: Pick<ClusterSnapshot, 'pools' | 'workloads'>,
): void {
  const where = `workload ${nameOfWorkload(workload)}: addresses: ${address}`;
  const pool = poolAround(pools, prefixFrom(address))?.value;
  if (pool?.network !== workload.network) {
    const is = pool === undefined ? 'is in no pool' : `is in pool ${pool.name} of network ${pool.network}`;
    throw new PodwireError('ADDRESS_NOT_IN_POOL', `${where} ${is}`, { details: { address } });
  }
  if (pool.reserved.some((each) => containsPrefix(prefixFrom(each), prefixFrom(address)))) {
    throw new PodwireError('ADDRESS_NOT_IN_POOL', `${where} is reserved in pool ${pool.name}`, {
      details: { address, pool: pool.name },
    });
  }
  const other = workloads.find(
    ({ value }) => nameOfWorkload(value) !== nameOfWorkload(workload) && value.addresses.includes(address),
  );
  if (other !== undefined) {
    throw new PodwireError('ADDRESS_IN_USE', `${where} belongs to workload ${nameOfWorkload(other.value)}`, {
      details: { address, workload: nameOfWorkload(other.value) },
    });
  }
}

/** Names of the workloads that name the pool, or an address of it. */
export function workloadsOf({ workloads }: Pick<ClusterSnapshot, 'workloads'>, pool: Pool): string[] {
  return workloads
    .filter(({ value }) => value.pools.includes(pool.name) || addressesWithin(value, pool).length > 0)
    .map(({ value }) => nameOfWorkload(value));
}

/** Static addresses of a workload that lie in the pool. */
export function addressesWithin({ addresses }: Workload, { cidr }: Pool): string[] {
  return addresses.filter((address) => containsPrefix(prefixFrom(cidr), prefixFrom(address)));
}

/** The workload without the assignments of these addresses. */
export function withoutAssignments(workload: Workload, isGone: (address: string) => boolean): Workload {
  const kept = Object.entries(workload.assigned).flatMap(([pod, addresses]) => {
    const left = addresses.filter((address) => !isGone(address));
    return left.length === 0 ? [] : [[pod, left] as const];
  });
  return { ...workload, assigned: Object.fromEntries(kept) };
}
