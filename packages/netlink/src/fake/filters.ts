import type { NetlinkMessage } from '../connection.js';
import { addFilterRequest, decodeFilter, type Filter, type NewFilter } from '../filter.js';
import { readTcMessage } from '../tc-message.js';
import { FakeErrno } from './errno.js';
import type { FakeContext, NamespaceState } from './state.js';

/** u32 names its filters by hash table, bucket and node; the first node is 800. */
const FIRST_HANDLE = 0x80000800;

/** RTM_NEWTFILTER */
export function newFilter({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = decodeFilter(message);
  requirePlace(namespace, request);
  if (request.kind !== 'u32') throw new FakeErrno('ENOENT', 'TC classifier not found');
  for (const action of request.settings?.actions ?? []) {
    if ('target' in action && !namespace.links.has(action.target)) throw new FakeErrno('ENODEV');
  }
  const count = namespace.filters.filter((filter) => hasSamePriority(filter, request)).length;
  namespace.filters = [...namespace.filters, { ...request, handle: FIRST_HANDLE + count }];
  return [];
}

function requirePlace(namespace: NamespaceState, { link, parent }: Pick<Filter, 'link' | 'parent'>): void {
  if (!namespace.links.has(link)) throw new FakeErrno('ENODEV');
  const qdiscs = namespace.qdiscs.filter((qdisc) => qdisc.link === link);
  const holds = qdiscs.some((qdisc) => qdisc.handle >>> 16 === parent >>> 16);
  if (!holds) throw new FakeErrno('EINVAL', "Parent Qdisc doesn't exists");
}

const isAt = (a: Pick<Filter, 'link' | 'parent'>, b: Pick<Filter, 'link' | 'parent'>): boolean =>
  a.link === b.link && a.parent === b.parent;

const hasSamePriority = (a: Filter, b: Filter): boolean =>
  isAt(a, b) && a.priority === b.priority && a.protocol === b.protocol;

/** RTM_DELTFILTER: those of one priority, or, for priority 0, all. */
export function deleteFilter({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = decodeFilter(message);
  requirePlace(namespace, request);
  const meant = (filter: Filter) =>
    request.priority === 0 ? isAt(filter, request) : hasSamePriority(filter, request);
  if (request.priority !== 0 && !namespace.filters.some(meant)) {
    throw new FakeErrno('ENOENT', 'Filter with specified priority/protocol not found');
  }
  namespace.filters = namespace.filters.filter((filter) => !meant(filter));
  return [];
}

/** RTM_GETTFILTER; a link that is gone has none. */
export function dumpFilters({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readTcMessage(message);
  return namespace.filters
    .filter((filter) => isAt(filter, request))
    .sort((a, b) => a.priority - b.priority)
    .map(encodeFilter);
}

function encodeFilter({ settings, handle, ...filter }: Filter): Buffer {
  const [action] = settings?.actions ?? [];
  const known = action !== undefined && 'target' in action ? { action } : {};
  const request: NewFilter = { ...filter, keys: settings?.keys ?? [], ...known };
  const payload = addFilterRequest(request).payload as Buffer;
  payload.writeUInt32LE(handle, 8);
  return payload;
}
