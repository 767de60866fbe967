/** A node whose policy is switched off says so: `podwire apply --wait` would wait for it until its time is over. */
import type { PolicyStatus } from '@podwire/cluster-state';
import { compact } from '@podwire/platform';
import type { ClusterMember, ClusterWorld } from '../../cluster/contract.js';
import type { Log } from '../../log.js';
import { StatusWriter } from './status-writer.js';

/** Writes the status with each lease of the node. */
export function tellSwitchedOff(
  node: string,
  member: Pick<ClusterMember, 'keys' | 'registration' | 'objectsInForce' | 'onObjectsInForce'>,
  { store, clock }: Pick<ClusterWorld, 'store' | 'clock'>,
  log: Log,
): Pick<StatusWriter, 'stop'> {
  const { keys, registration } = member;
  const read = (): PolicyStatus => ({
    ...{ node, revision: 0, problems: [], isOff: true },
    ...compact({ objects: member.objectsInForce }),
  });
  const leaseId = (): typeof registration.leaseId => registration.leaseId;
  const writer = new StatusWriter({ node, store, keys, clock, log, leaseId, read });
  registration.onChange(() => writer.note());
  member.onObjectsInForce(() => writer.note());
  writer.note();
  return writer;
}
