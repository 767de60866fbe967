import type { Duplex } from 'node:stream';
import {
  type BackoffOptions,
  type Clock,
  compact,
  type Log,
  silentLog,
  systemClock,
} from '@podwire/platform';
import { defaultLimits, type Limits } from '../rpc/limits.js';
import { openStream, type TlsOptions } from '../rpc/open-stream.js';

/** All times are in milliseconds. */
export interface ClientOptions {
  /** `unix:PATH`, `tcp:HOST:PORT`, `ssl:HOST:PORT`: the servers of one database. One of them is used at a time. */
  readonly endpoints: readonly string[];
  /** `Open_vSwitch`, `OVN_Northbound` */
  readonly database: string;
  /** For `ssl:` endpoints. */
  readonly tls?: TlsOptions;
  /** True when absent: of a cluster the leader is used, which alone has seen everything. */
  readonly leaderOnly?: boolean;
  /** The deadline of a call that has none of its own; 10 s when absent. */
  readonly timeout?: number;
  /** Until a connection can be used; 10 s when absent. */
  readonly connectTimeout?: number;
  /** Between attempts to connect; 100 ms, doubled up to 8 s, when absent. Each delay is shortened by up to a half at random. */
  readonly backoff?: BackoffOptions;
  /** A server that is silent for so long is asked for an echo, and given up after as long again; 5 s when absent, 0: never. */
  readonly probeInterval?: number;
  readonly limits?: Partial<Limits>;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Numbers from 0 to 1. */
  readonly random?: () => number;
  /** Opens a stream in place of a socket, as `open` of the in-memory server does. */
  readonly open?: (endpoint: string, signal: AbortSignal) => Promise<Duplex>;
}

/** All options, with what takes the place of those that were left out. */
export type Settings = Required<Omit<ClientOptions, 'tls' | 'limits'>> & { readonly limits: Limits };

/** @throws TypeError: there is no endpoint */
export function completeOptions({ tls, limits, ...options }: ClientOptions): Settings {
  if (options.endpoints.length === 0) throw new TypeError('a client needs an endpoint');
  return {
    open: (endpoint, signal) => openStream(endpoint, { tls, signal }),
    leaderOnly: true,
    timeout: 10_000,
    connectTimeout: 10_000,
    backoff: { first: 100, longest: 8_000 },
    probeInterval: 5_000,
    log: silentLog,
    clock: systemClock,
    random: Math.random,
    ...compact(options),
    limits: { ...defaultLimits, ...limits },
  };
}
