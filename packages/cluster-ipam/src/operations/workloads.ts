/** Static addresses, pools and stickiness for the pods of a workload. */
import { type Stored, type Workload, workloadKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Condition, encodeObject, type Write } from '@podwire/store';
import { type ClusterAccess, retryOnConflict } from './access.js';
import { otherUsers } from './harm.js';
import type { ClusterSnapshot } from './snapshot.js';
import { listSome } from './text.js';
import { beginPoolChange, commitPoolChange } from './pools.js';
import { buildWorkload, nameOfWorkload, type WorkloadInput } from './workload-rules.js';

export interface SetWorkloadOptions {
  /** Also addresses that other pods have now. */
  readonly force?: boolean;
}

/**
 * Makes or changes a workload; what is not given stays. Pods that run keep what they have.
 * @throws PodwireError POOL_UNKNOWN, ADDRESS_NOT_IN_POOL, ADDRESS_IN_USE, REQUEST_INVALID, STORE_CONFLICT
 */
export async function setWorkload(
  access: ClusterAccess,
  input: WorkloadInput,
  signal: AbortSignal,
  { force = false }: SetWorkloadOptions = {},
): Promise<Workload> {
  return retryOnConflict(`workload ${nameOfWorkload(input)}`, async () => {
    // As a change of pools: no other workload gets its addresses meanwhile, and no pool of it is deleted.
    const change = await beginPoolChange(access, signal);
    const before = findWorkload(change.snapshot.workloads, input);
    const workload = buildWorkload(input, before?.value, change.snapshot);
    if (!force && input.addresses !== undefined) requireFree(change.snapshot, workload);
    const key = before?.key ?? access.keys.workload(workload.network, workload.namespace, workload.name);
    const conditions: Condition[] = [{ key, expect: before?.revision ?? 'absent' }];
    const writes: Write[] = [{ op: 'put', key, value: encodeObject(workloadKind, workload) }];
    return (await commitPoolChange(access, change, { conditions, writes }, signal)) ? workload : undefined;
  });
}

/** @throws PodwireError ADDRESS_IN_USE */
function requireFree(snapshot: ClusterSnapshot, workload: Workload): void {
  const users = otherUsers(snapshot, workload);
  if (users.length === 0) return;
  throw new PodwireError('ADDRESS_IN_USE', `other pods have addresses of the workload: ${listSome(users)}`, {
    details: { workload: nameOfWorkload(workload), users },
    action: 'Choose others, or `--force`: its pods wait for the address until the other pod has ended.',
  });
}

/** Pods that run keep what they have. @returns false when there is none */
export async function deleteWorkload(
  access: ClusterAccess,
  name: Pick<Workload, 'network' | 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<boolean> {
  return access.store.delete(access.keys.workload(name.network, name.namespace, name.name), { signal });
}

function findWorkload(
  workloads: readonly Stored<Workload>[],
  wanted: Pick<Workload, 'network' | 'namespace' | 'name'>,
): Stored<Workload> | undefined {
  return workloads.find(({ value }) => nameOfWorkload(value) === nameOfWorkload(wanted));
}

/** `NAMESPACE/NAME` or `NETWORK/NAMESPACE/NAME`. @throws PodwireError REQUEST_INVALID */
export function parseWorkloadName(
  text: string,
  network: string,
): Pick<Workload, 'network' | 'namespace' | 'name'> {
  const parts = text.split('/');
  const [first = '', second = '', third = ''] = parts;
  if (parts.every((part) => part !== '')) {
    if (parts.length === 1) return { network, namespace: 'default', name: first };
    if (parts.length === 2) return { network, namespace: first, name: second };
    if (parts.length === 3) return { network: first, namespace: second, name: third };
  }
  throw new PodwireError('REQUEST_INVALID', `${JSON.stringify(text)} is no [[NETWORK/]NAMESPACE/]NAME`);
}
