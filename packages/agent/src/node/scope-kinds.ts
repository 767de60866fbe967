/** Scopes that are followed together, by their kinds. */
import type { KindFilter } from '@podwire/desired-state';

/** The node's own part goes its own way, see `NodeState.sync`; endpoints are for the requests that work on them. */
export const besideNode: KindFilter = (kind) => kind !== 'node' && kind !== 'endpoint';

export const isOfModel: KindFilter = (kind) => kind !== 'peer' && besideNode(kind);
