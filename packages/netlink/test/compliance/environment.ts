/** Environment of a compliance case, whichever kernel it runs on. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { listLinks, NetlinkBatchError, type NetlinkConnection, type NetlinkRequest } from '@podwire/netlink';

export interface Namespace {
  readonly fd: number;
  readonly connection: NetlinkConnection;
}

export interface Environment {
  readonly host: Namespace;
  readonly pod: Namespace;
}

export interface Case {
  readonly name: string;
  readonly run: (environment: Environment) => void;
}

/** Sends requests and gives the errno's name of each, `ok` for those that succeeded. */
export function outcomes(connection: NetlinkConnection, ...requests: NetlinkRequest[]): string[] {
  const codes = requests.map(() => 'ok');
  try {
    connection.request(requests);
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    for (const { index, code } of error.failures) codes[index] = code;
  }
  return codes;
}

/** Sends one request and gives what it came to. */
export const outcome = (connection: NetlinkConnection, request: NetlinkRequest): string =>
  outcomes(connection, request)[0]!;

/** The name of every link but the loopback. */
export const linkNames = (connection: NetlinkConnection): string[] =>
  listLinks(connection)
    .map((link) => link.name)
    .filter((name) => name !== 'lo')
    .sort();

/** Asserts that it becomes `expected`: the kernel does some things a moment later, without an event. */
export function assertBecomes<T>(read: () => T, expected: T): void {
  const last = performance.now() + 5_000;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (!isDeepStrictEqual(read(), expected) && performance.now() < last) Atomics.wait(pause, 0, 0, 1);
  assert.deepEqual(read(), expected);
}

/**
 * Asserts that two readings are the same, in whatever order. What the kernel does by itself (routes of new addresses, neighbours that
 * are solicited) may come between them: then both are read again.
 */
export function assertAgree(ours: () => readonly object[], theirs: () => readonly object[]): void {
  const sorted = (list: readonly object[]): string[] => list.map((entry) => JSON.stringify(entry)).sort();
  const last = performance.now() + 5_000;
  for (;;) {
    const [mine, other] = [sorted(ours()), sorted(theirs())];
    if (isDeepStrictEqual(mine, other)) return;
    if (performance.now() > last) assert.deepEqual(mine, other);
  }
}

/** Asserts that `actual` has everything that `expected` has; arrays are of the same length. */
export function assertContains(actual: unknown, expected: unknown): void {
  assert.deepEqual(project(actual, expected), expected);
}

/** `value`, reduced to what `shape` has. */
function project(value: unknown, shape: unknown): unknown {
  if (typeof value !== 'object' || value === null || typeof shape !== 'object' || shape === null)
    return value;
  if (Array.isArray(value)) {
    return value.map((item, index) => project(item, (shape as unknown[])[index]));
  }
  const record = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(shape).map(([key, part]) => [key, project(record[key], part)]));
}
