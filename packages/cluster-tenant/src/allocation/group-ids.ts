/** Ids of endpoint groups. */
import type { ClusterView } from '../contract.js';
import { exhausted } from '../problems.js';

/** 16 bits, all of which go with a packet: the original sends 15, so there two groups can be one. */
export const highestGroupId = 65_535;

/** The first free one behind the last that was handed out, around the end. @throws PodwireError TENANT_EXHAUSTED */
export function chooseGroupId({
  groupIds,
  groupCursor,
}: Pick<ClusterView, 'groupIds' | 'groupCursor'>): number {
  const id = groupIds.next(groupCursor);
  if (id === undefined)
    throw exhausted(
      'endpointGroup',
      `all ${highestGroupId} ids are taken`,
      'Delete groups that are not needed.',
    );
  return id;
}
