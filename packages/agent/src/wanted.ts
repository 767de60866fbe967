/** Everything that the agent wants on the node, by owner. */
import type { Owned } from '@podwire/engine';
import { ownedBy, type ResourceOwners } from './endpoints/context.js';
import { besideNode } from './node/scope-kinds.js';
import type { EndpointRecord } from './records/record.js';

/** @param isWanted leaves endpoints out */
export function listWanted(
  { node, desired, endpoints, policy }: ResourceOwners,
  isWanted: (record: EndpointRecord) => boolean = () => true,
): Owned[] {
  return [
    node.owned(),
    ...desired.owned(besideNode),
    ...(policy?.owned() ?? []),
    ...endpoints.all().filter(isWanted).map(ownedBy),
  ];
}
