/** A connection that can be used: to a server that has the database, with its schema and all monitors. */
import type { Duplex } from 'node:stream';
import type { Clock, Log } from '@podwire/platform';
import { Monitor } from '../cache/monitor.js';
import type { Change } from '../cache/replica.js';
import { OvsdbError, RefusedError } from '../errors.js';
import { parseSchema } from '../parse-schema.js';
import { Connection } from '../rpc/connection.js';
import type { Limits } from '../rpc/limits.js';
import type { DatabaseSchema } from '../schema.js';
import { findObstacle, serverRequest, serverSchema } from './server-state.js';

export interface Session {
  readonly endpoint: string;
  readonly connection: Connection;
  readonly schema: DatabaseSchema;
}

export interface SessionOptions {
  readonly endpoint: string;
  readonly stream: Duplex;
  readonly database: string;
  readonly leaderOnly: boolean;
  readonly timeout: number;
  readonly probeInterval: number;
  readonly limits: Limits;
  readonly log: Log;
  readonly clock: Clock;
  /** The monitors that there are at the time of the call, by id. */
  readonly monitors: ReadonlyMap<string, Monitor>;
}

/** @throws OvsdbError: the server cannot be used; the stream is closed then */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { endpoint, monitors } = options;
  const server = new Monitor({
    id: '_Server',
    database: '_Server',
    tables: serverRequest,
    indexes: {},
    log: options.log,
  });
  const connection = new Connection({
    ...options,
    name: endpoint,
    onNotification: (method, params) =>
      dispatch(method, params, (id) => (id === '_Server' ? server : monitors.get(id))),
  });
  try {
    const schema = await prepare(connection, server, options, signal);
    return { endpoint, connection, schema };
  } catch (error) {
    connection.close(error as Error);
    throw error;
  }
}

async function prepare(
  connection: Connection,
  server: Monitor,
  { database, leaderOnly, timeout, monitors, endpoint }: SessionOptions,
  signal: AbortSignal,
): Promise<DatabaseSchema> {
  const call = { timeout, signal };
  const ignore = (): void => undefined;
  // Older servers do not know the method, or the database; they close the connection when something changes.
  await orRefused(connection.request('set_db_change_aware', [true], { ...call, read: ignore }));
  await orRefused(server.attach(connection, serverSchema, call));
  const obstacle = (): string | undefined =>
    server.hasContent ? findObstacle(server.rows('Database').values(), database, leaderOnly) : undefined;
  server.subscribe(({ changes }) => {
    const now = obstacle();
    if (now !== undefined) connection.close(new Error(now));
    else if (changes.some((change) => isNewSchema(change, database)))
      connection.close(new Error('the schema has changed'));
  });
  const first = obstacle();
  if (first !== undefined) throw new OvsdbError('NOT_SENT', `${endpoint} is not used: ${first}`);
  const schema = await connection.request('get_schema', [database], { ...call, read: parseSchema });
  for (const monitor of monitors.values())
    if (monitor.hasContent) await monitor.attach(connection, schema, call);
  return schema;
}

/** All begins anew then: the server has cancelled the monitors. */
const isNewSchema = (change: Change, database: string): boolean =>
  change.type === 'modify' &&
  change.after['name'] === database &&
  change.after['schema'] !== change.before['schema'];

/** Gives the notification to the monitor it is for. @throws Error: the connection ends */
function dispatch(method: string, params: unknown, find: (id: string) => Monitor | undefined): void {
  if (!Array.isArray(params) || typeof params[0] !== 'string') return;
  const monitor = find(params[0]);
  if (monitor === undefined) return;
  if (method === 'monitor_canceled') throw new Error('the server has cancelled a monitor');
  monitor.receive(method, params as readonly unknown[]);
}

async function orRefused(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}
