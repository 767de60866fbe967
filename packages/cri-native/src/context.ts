import { randomBytes } from 'node:crypto';
import { noTracer, type OpenSpan, type Tracer } from '@podwire/tracing';
import { readBootId } from '@podwire/linux';
import type { PodNetwork } from '@podwire/pod-network';
import { longestTimer, noFaults, type Singleflight, silentLog, systemClock } from '@podwire/platform';
import type { EventBroadcast } from '@podwire/cri';
import type { Clock, NativeRuntimeOptions, FaultPoints, Log } from './options.js';
import type { Inventory } from './state/inventory.js';
import type { Layers } from './layers.js';

/** Shared by all operations. */
export interface Context {
  readonly directory: string;
  readonly network: PodNetwork;
  readonly pauseProgram: string;
  readonly netnsDirectory: string;
  readonly bootId: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly tracer: Tracer;
  readonly faults: FaultPoints;
  readonly inventory: Inventory;
  readonly events: EventBroadcast;
  readonly layers: Layers;
  /** Creations under way, by the metadata of what is created: the same call again joins. */
  readonly creations: Singleflight<string>;
  /** Stops and removals under way, by id. */
  readonly terminations: Singleflight<void>;
  /** Aborted: no more calls are taken. Sandboxes that are being made are taken back; all else goes on to its end. */
  readonly closing: AbortSignal;
  /** This process has let go of everything: that a connection ends does not mean that its other end does. */
  readonly isReleased: () => boolean;
}

/** One call of an operation. */
export interface Work {
  readonly signal: AbortSignal;
  readonly span: OpenSpan;
}

export { noFaults, silentLog, systemClock };

/** The options with their defaults. */
export function settle(
  options: NativeRuntimeOptions,
): Omit<
  Context,
  'inventory' | 'events' | 'layers' | 'creations' | 'terminations' | 'closing' | 'isReleased'
> {
  return {
    directory: options.directory,
    network: options.network,
    pauseProgram: options.pauseProgram,
    netnsDirectory: options.netnsDirectory ?? '/run/netns',
    bootId: readBootId(options.bootIdFile),
    clock: options.clock ?? systemClock,
    random: options.random ?? randomBytes,
    log: options.log ?? silentLog,
    tracer: options.tracer ?? noTracer,
    faults: options.faults ?? noFaults,
  };
}

export const newId = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(32)).toString('hex');

/** Seconds as a call has them, as milliseconds that a timer can wait: at most 24 days. */
export const toMilliseconds = (seconds: bigint): number => Math.min(Number(seconds) * 1000, longestTimer);
