/** Translates the contract's types into etcd's. */
import type { Change, Condition, Item, LeaseId, Transaction, Write } from '../contract.js';
import { leaseLost } from '../failures.js';
import type { Event, KeyValue } from './generated/kv.js';
import { Event_EventType } from './generated/kv.js';
import {
  type Compare,
  Compare_CompareResult,
  Compare_CompareTarget,
  type RangeRequest,
  type RequestOp,
  type TxnRequest,
} from './generated/rpc.js';

// Keys are ASCII.
export const toKey = (key: string): Buffer => Buffer.from(key, 'latin1');

/** As etcdctl shows it; 0 is none. */
export const toLeaseId = (number: string): LeaseId | undefined =>
  number === '0' ? undefined : BigInt(number).toString(16);

/** @throws PodwireError STORE_LEASE_LOST for what was never a lease here */
export function toLeaseNumber(id: LeaseId | undefined): string {
  if (id === undefined) return '0';
  if (!/^[1-9a-f][0-9a-f]{0,15}$/.test(id)) throw leaseLost(id);
  return BigInt(`0x${id}`).toString();
}

export function toItem({ key, value, modRevision, lease }: KeyValue): Item {
  const id = toLeaseId(lease);
  const item = { key: key.toString('latin1'), value: value.toString('utf8'), revision: modRevision };
  return id === undefined ? item : { ...item, lease: id };
}

export function toChange({ type, kv }: Event): Change {
  if (kv === undefined) throw new Error('an event without an item');
  return type === Event_EventType.DELETE
    ? { type: 'delete', key: kv.key.toString('latin1'), revision: kv.modRevision }
    : { type: 'put', item: toItem(kv) };
}

/** All keys that begin so: the range up to the next text of the same length. */
export function toRange(prefix: string): Pick<RangeRequest, 'key' | 'rangeEnd'> {
  // One zero byte is the first of all keys, and as an end it means: to the last.
  if (prefix === '') return { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };
  const key = toKey(prefix);
  const rangeEnd = Buffer.from(key);
  // ASCII: there is always a next character.
  rangeEnd[rangeEnd.length - 1] = (rangeEnd.at(-1) ?? 0) + 1;
  return { key, rangeEnd };
}

const noRange = { rangeEnd: Buffer.alloc(0), limit: 0, revision: 0, countOnly: false };

export const toGet = (key: string, revision = 0): RangeRequest => ({ ...noRange, key: toKey(key), revision });

export const toPage = (prefix: string, page: Partial<RangeRequest> = {}): RangeRequest => ({
  ...noRange,
  ...toRange(prefix),
  ...page,
});

const toCompare = ({ key, expect }: Condition): Compare => ({
  result: Compare_CompareResult.EQUAL,
  target: Compare_CompareTarget.MOD,
  key: toKey(key),
  modRevision: expect === 'absent' ? 0 : expect,
});

const toRequest = (write: Write): RequestOp =>
  write.op === 'delete'
    ? { requestDeleteRange: { key: toKey(write.key) } }
    : {
        requestPut: {
          key: toKey(write.key),
          value: Buffer.from(write.value, 'utf8'),
          lease: toLeaseNumber(write.lease),
        },
      };

/** A refusal carries the items at the conditions' keys. */
export const toTxn = ({ conditions, writes }: Transaction): TxnRequest => ({
  compare: conditions.map(toCompare),
  success: writes.map(toRequest),
  failure: conditions.map(({ key }) => ({ requestRange: toGet(key) })),
});

/**
 * True if a transaction cannot take effect twice: a condition is about an item that it writes itself. (An expectation that is absent is
 * not ended by a deletion.)
 */
export function isGuarded({ conditions, writes }: Transaction): boolean {
  return conditions.some(({ key, expect }) =>
    writes.some((write) => write.key === key && (write.op === 'put' || expect !== 'absent')),
  );
}
