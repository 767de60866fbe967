import { CniError, errorCodes, type NetworkConfig, type OperationLock, type Runtime } from '@podwire/cni';
import type { SpanContext, Tracer } from '@podwire/tracing';
import { formatTraceparent } from '@podwire/tracing';
import { type Log, withDeadline } from '@podwire/platform';
import type { LoopbackMode, PodNetworkSystem } from '../options.js';
import type { SandboxRecords } from '../state/records.js';

/** The context that all operations share. */
export interface Scope {
  readonly runtime: Runtime;
  readonly records: SandboxRecords;
  /** Serial for one pod, parallel for others, garbage collection alone. */
  readonly gate: OperationLock;
  readonly loopback: LoopbackMode;
  readonly timeoutMs: number;
  readonly bootId: string;
  readonly log: Log;
  readonly tracer: Tracer;
  readonly system: PodNetworkSystem;
  /** The network to attach to. @throws PodwireError NETWORK_NOT_READY */
  readonly network: () => NetworkConfig;
  readonly podCidrs: () => readonly string[];
  /** Addresses of sandboxes as far as they were asked for. */
  readonly known: Map<string, readonly string[]>;
  /** Sandboxes that no client will detach again, with what they may still have. */
  readonly leftovers: Set<string>;
}

export const podInterface = 'eth0';
export const loopbackInterface = 'lo';

/** Kubelet's key for its lock per pod. */
export function podKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${name}_${namespace}`;
}

/** For plugins; see `traceCalls`. */
export function traceVariables(parent: SpanContext | undefined): Readonly<Record<string, string>> {
  const traceparent = parent && formatTraceparent(parent);
  return traceparent === undefined ? {} : { TRACEPARENT: traceparent };
}

/** One deadline for work that consists of several operations. */
export function withinTotal<T>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = () =>
    new CniError(errorCodes.tryAgainLater, `the deadline of ${milliseconds} ms has passed`);
  return withDeadline(signal, milliseconds, work, { reason });
}
