import { type NamespaceReference } from '@podwire/linux';
import {
  NETLINK_NETFILTER,
  NLM_F_DUMP,
  NetlinkBatchError,
  type NetlinkConnection,
  type NetlinkMessage,
  openNetlinkConnection,
} from '@podwire/netlink';
import { withDeadline } from '@podwire/platform';
import {
  type ConntrackEntry,
  type ConntrackFilter,
  decodeEntry,
  deleteEntryRequest,
  deleteMatchingRequest,
  describeFilter,
  kernelCanMatch,
  listAllRequest,
  listMatchingRequest,
  matches,
} from './conntrack-codec.js';
import type { CallOptions } from './nftables.js';
import { translated, translating } from './errors.js';

export type { ConntrackEntry, ConntrackFilter, ConntrackTuple } from './conntrack-codec.js';

/** Of a deletion without a deadline of its caller. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** The connection tracking table of one network namespace. */
export interface Conntrack {
  /**
   * Deletes the entries that match any of the filters; none is fine. For each filter the kernel walks through its whole
   * table, on a thread of libuv's pool. On Linux before 6.11, and for filters by an IPv6 address or an SCTP port, which
   * the kernel's own filter gets wrong, this takes a second request for the entries that were found.
   * @throws NftablesError, or the signal's reason; a TimeoutError after 30 seconds when no signal is given.
   */
  deleteConntrack(filters: readonly ConntrackFilter[], options?: CallOptions): Promise<void>;
  /**
   * Deletes the entries that the caller wants gone, after one walk through the whole table on a thread of libuv's pool.
   * @returns how many were deleted
   * @throws NftablesError, or the signal's reason
   */
  deleteEntries(isWanted: (entry: ConntrackEntry) => boolean, options: CallOptions): Promise<number>;
  /** The entries that match, or all of both families. */
  listConntrack(filter?: ConntrackFilter): ConntrackEntry[];
  close(): void;
}

export interface ConntrackOptions {
  /** The network namespace to work in; the caller's own when absent. It may be closed afterwards. */
  readonly namespace?: NamespaceReference | undefined;
}

/** @throws SystemError */
export function openConntrack(options: ConntrackOptions = {}): Conntrack {
  const connection = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace: options.namespace });
  return createConntrack(connection);
}

/** As {@link openConntrack}, over a connection that the caller has made; it is closed with the result. */
export function createConntrack(connection: NetlinkConnection): Conntrack {
  let filterSupported = true;
  const deleteAll = async (filters: readonly ConntrackFilter[], signal: AbortSignal): Promise<void> => {
    const inKernel = filterSupported ? filters.filter(kernelCanMatch) : [];
    filterSupported &&= await deleteInKernel(connection, inKernel, signal);
    for (const filter of filters) {
      if (!filterSupported || !inKernel.includes(filter)) await deleteOneByOne(connection, filter, signal);
    }
  };
  return {
    async deleteConntrack(filters, { signal } = {}) {
      signal?.throwIfAborted();
      if (signal === undefined)
        await withDeadline(undefined, DEFAULT_TIMEOUT_MS, (own) => deleteAll(filters, own));
      else await deleteAll(filters, signal);
    },
    async deleteEntries(isWanted, { signal } = {}) {
      signal?.throwIfAborted();
      return withDeadline(signal, DEFAULT_TIMEOUT_MS, (own) => deleteWanted(connection, isWanted, own));
    },
    listConntrack(filter) {
      if (filter !== undefined) return listMatching(connection, filter).map(decodeEntry);
      return translating('list conntrack entries', () => connection.dump(listAllRequest())).map(decodeEntry);
    },
    close: () => connection.close(),
  };
}

/** Returns whether the kernel can: one that cannot says EINVAL or EOPNOTSUPP and has deleted nothing. */
async function deleteInKernel(
  connection: NetlinkConnection,
  filters: readonly ConntrackFilter[],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await connection.requestAsync(filters.map(deleteMatchingRequest), signal);
    return true;
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw translated(filters.map(describeFilter).join('; '), error);
  }
}

function isUnsupported(error: unknown): boolean {
  const codes = error instanceof NetlinkBatchError ? error.failures.map(({ code }) => code) : [];
  return codes.length > 0 && codes.every((code) => code === 'EINVAL' || code === 'EOPNOTSUPP');
}

/** For what the kernel's filter gets wrong: lists what may match, and deletes what does. */
async function deleteOneByOne(
  connection: NetlinkConnection,
  filter: ConntrackFilter,
  signal: AbortSignal,
): Promise<void> {
  const wanted = matches(filter);
  try {
    // A dump as a plain request, since those have an asynchronous variant; it ends with the dump's last message.
    const { flags, ...request } = listMatchingRequest(filter);
    const [messages = []] = await connection.requestAsync(
      [{ ...request, flags: flags | NLM_F_DUMP }],
      signal,
    );
    await deleteListed(
      connection,
      messages.filter((message) => wanted(decodeEntry(message))),
      signal,
    );
  } catch (error) {
    throw translated(`delete ${describeFilter(filter)}`, error);
  }
}

/** In one request at most: what is deleted travels together. */
const DELETIONS_AT_ONCE = 1_000;

async function deleteWanted(
  connection: NetlinkConnection,
  isWanted: (entry: ConntrackEntry) => boolean,
  signal: AbortSignal,
): Promise<number> {
  const { flags, ...request } = listAllRequest();
  const [messages = []] = await connection.requestAsync([{ ...request, flags: flags | NLM_F_DUMP }], signal);
  const wanted = messages.filter((message) => isWanted(decodeEntry(message)));
  for (let start = 0; start < wanted.length; start += DELETIONS_AT_ONCE)
    await deleteListed(connection, wanted.slice(start, start + DELETIONS_AT_ONCE), signal);
  return wanted.length;
}

async function deleteListed(
  connection: NetlinkConnection,
  messages: readonly NetlinkMessage[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await connection.requestAsync(messages.map(deleteEntryRequest), signal);
  } catch (error) {
    // Entries end by themselves all the time.
    const gone = error instanceof NetlinkBatchError && error.failures.every(({ code }) => code === 'ENOENT');
    if (!gone) throw translated('delete conntrack entries', error);
  }
}

function listMatching(connection: NetlinkConnection, filter: ConntrackFilter): NetlinkMessage[] {
  const wanted = matches(filter);
  const messages = translating('list', () => connection.dump(listMatchingRequest(filter)));
  return messages.filter((message) => wanted(decodeEntry(message)));
}
