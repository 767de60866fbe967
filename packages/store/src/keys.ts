/** Validates keys, prefixes, values and transactions: the same for every back end, before anything is sent. */
import { PodwireError } from '@podwire/errors';
import type { StoreLimits, Transaction } from './contract.js';

export const longestKey = 512;

// Printable ASCII without space; what is between slashes is never empty.
const keyShape = /^\/?[!-.0-~]+(?:\/[!-.0-~]+)*$/;
const prefixShape = /^[!-~]*$/;
// Whatever travels in a URL (Consul) is taken for a step in a path otherwise.
const steps = /(?:^|\/)\.{1,2}(?:\/|$)/;
// UTF-8 has no half of a pair: it would come back as something else.
const halfPair = /\p{Surrogate}/u;

/**
 * A key is printable ASCII without spaces, at most 512 characters; its parts are divided by single slashes, the first of which
 * may be missing, and none is `.` or `..`.
 * @throws PodwireError REQUEST_INVALID
 */
export function checkKey(key: string): void {
  if (key.length > longestKey) throw refuse(`a key of ${key.length} characters is too long`);
  if (!keyShape.test(key) || steps.test(key)) throw refuse(`${quote(key)} cannot be a key`);
}

/**
 * A prefix is text that keys begin with: `a/b` is the beginning of `a/bc` too, `a/b/` is what is in the folder. Empty: all.
 * @throws PodwireError REQUEST_INVALID
 */
export function checkPrefix(prefix: string): void {
  if (prefix.length > longestKey) throw refuse(`a prefix of ${prefix.length} characters is too long`);
  if (!prefixShape.test(prefix) || prefix.includes('//')) throw refuse(`${quote(prefix)} begins no key`);
}

/** @throws PodwireError REQUEST_INVALID for text that is too big or has no UTF-8 */
export function checkValue(key: string, value: string, { valueBytes }: StoreLimits): void {
  // No character of a string is more than three bytes of UTF-8.
  if (value.length * 3 > valueBytes && Buffer.byteLength(value) > valueBytes)
    throw refuse(`the value of ${quote(key)} has more than ${valueBytes} bytes`);
  if (halfPair.test(value)) throw refuse(`the value of ${quote(key)} has half a surrogate pair`);
}

/** @throws PodwireError REQUEST_INVALID, before anything of it is done */
export function checkTransaction({ conditions, writes }: Transaction, limits: StoreLimits): void {
  for (const [what, { length }] of Object.entries({ conditions, writes }))
    if (length > limits.operations)
      throw refuse(`a transaction has ${length} ${what}; this store takes ${limits.operations} at most`);
  for (const { key } of conditions) checkKey(key);
  const written = new Set<string>();
  for (const write of writes) {
    checkKey(write.key);
    if (written.has(write.key)) throw refuse(`a transaction writes ${quote(write.key)} twice`);
    written.add(write.key);
    if (write.op === 'put') checkValue(write.key, write.value, limits);
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);

const refuse = (message: string): PodwireError => new PodwireError('REQUEST_INVALID', message);
