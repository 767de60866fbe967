/** Coded errors of plans. */
import { PodwireError } from '@podwire/errors';
import { referenceKey, type UnreadableObject } from '@podwire/objects';

/** Something contradicts something else; the plan leaves both as they are. */
export const conflict = (message: string): PodwireError => new PodwireError('SDN_CONFLICT', message);

export const refusal = (namespace: string, message: string): PodwireError =>
  new PodwireError('SDN_CHANGE_REFUSED', `netnamespace ${namespace}: ${message}`);

export const noVnid = (namespace: string): PodwireError =>
  new PodwireError('SDN_EXHAUSTED', `no VNID is free for the namespace ${namespace}`, {
    action: 'Delete namespaces that are not needed any more, or join some of them.',
  });

export const noSubnet = (host: string, ranges: readonly string[]): PodwireError =>
  new PodwireError('SDN_EXHAUSTED', `no subnet is free for ${host} in ${ranges.join(', ')}`, {
    action:
      'Add a range to clusterNetworks of the ClusterNetwork, or delete nodes that are not needed any more.',
  });

export const noClusterNetwork = (): PodwireError =>
  new PodwireError('OBJECT_UNKNOWN', 'there is no ClusterNetwork default, so nothing can be handed out', {
    action: 'Apply one: docs/objects.md.',
  });

export const unreadableObject = ({ reference, problems }: UnreadableObject): PodwireError =>
  new PodwireError(
    'OBJECT_INVALID',
    `${referenceKey(reference)}: ${problems.map(({ message }) => message).join('; ')}`,
    {
      action: 'Correct or delete the object. Until then it is left alone, and what it has is not handed out.',
    },
  );
