/** Requests, answers and access rights. */
import { type Consul, readDuration, type Rights } from './consul.js';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string | undefined;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly index?: number;
  readonly filtered?: boolean;
}

export const json = (value: unknown, more: Partial<Answer> = {}): Answer => ({
  status: 200,
  text: JSON.stringify(value),
  ...more,
});

export const refuse = (status: number, text: string): Answer => ({ status, text });

export const denied = refuse(403, 'Permission denied');

/** `max_req_len` of transactions and `kv_max_value_size`. */
export const mostBytes = 512 * 1_024;

const allRights: Rights = { read: '', write: '', sessions: true };

export function rightsOf({ options: { tokens } }: Consul, token: string | undefined): Rights | undefined {
  return tokens === undefined ? allRights : tokens[token ?? ''];
}

const isAllowed = (prefix: string | undefined, key: string): boolean =>
  prefix !== undefined && key.startsWith(prefix);

export const mayRead = ({ read, write }: Rights, key: string): boolean =>
  isAllowed(read, key) || isAllowed(write, key);
export const mayWrite = ({ write }: Rights, key: string): boolean => isAllowed(write, key);

/** How long a request waits, milliseconds: 5 minutes when it does not say, 10 at most. */
export function readWait(text: string | null): number {
  return Math.min(text === null || text === '' ? 300_000 : readDuration(text), 600_000);
}
