/** Whose a node name is: one machine's, and one agent's on it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { machineLabel, type Node, nodeKind, nodeLeaseKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject, type Item } from '@podwire/store';

export interface Self {
  readonly node: string;
  readonly instance: string;
  /** Absent where the machine has no id. */
  readonly machine?: string;
}

/** The same over all boots of a machine, another on each; undefined where there is no machine-id(5). */
export function readMachine(file = '/etc/machine-id'): string | undefined {
  try {
    const id = fs.readFileSync(file, 'utf8').trim();
    return id === '' ? undefined : createHash('sha256').update(`podwire ${id}`).digest('hex').slice(0, 32);
  } catch {
    return undefined;
  }
}

/** @param presence what is at the presence's key @throws PodwireError NODE_NAME_TAKEN when another agent is alive */
export function refuseOtherAgent(presence: Item | undefined, { node, instance }: Self): void {
  if (presence === undefined) return;
  const other = decodeObject(nodeLeaseKind, presence.key, presence.value);
  if (other.instance === instance) return;
  const since = new Date(other.since).toISOString();
  throw new PodwireError(
    'NODE_NAME_TAKEN',
    `the node name ${node} is taken by another agent (instance ${other.instance}, since ${since}); this one is instance ${instance}`,
    { details: { node, instance: other.instance, since: other.since } },
  );
}

/**
 * Another boot of the same machine has no pods of the one before, and takes its blocks over. Another machine is another matter: the first
 * may be cut off, or have no agent at the moment, and its pods have addresses of the blocks.
 * @param object what is at the node's key @throws PodwireError NODE_NAME_TAKEN
 */
export function refuseOtherMachine(object: Item | undefined, { node, instance, machine }: Self): void {
  const before = readNode(object);
  const other = before?.labels[machineLabel];
  if (before === undefined || before.instance === instance) return;
  if (other === undefined || machine === undefined || other === machine) return;
  const where = [before.addresses.ipv4, before.addresses.ipv6].filter((each) => each !== undefined).join(' ');
  throw new PodwireError(
    'NODE_NAME_TAKEN',
    `the node name ${node} belongs to another machine (${where}, instance ${before.instance}), whose pods may be alive; if it is gone for good: podwire nodes forget ${node}`,
    { details: { node, instance: before.instance, since: before.registeredAt } },
  );
}

/** An object that cannot be decoded has no owner. */
function readNode(item: Item | undefined): Node | undefined {
  try {
    return item === undefined ? undefined : decodeObject(nodeKind, item.key, item.value);
  } catch {
    return undefined;
  }
}
