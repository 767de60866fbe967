import type { CallOptions } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { formatTraceparent, type OpenSpan } from '@podwire/tracing';
import type { Refusal } from '../admission/index.js';
import type { PodEventType } from '../contract.js';
import type { StepDependencies } from './dependencies.js';
import type { WorkerState } from './worker-state.js';

/** One turn of a worker. */
export interface Step extends StepDependencies {
  readonly worker: WorkerState;
  readonly signal: AbortSignal;
  readonly tell: (type: PodEventType, reason: string, message: string) => void;
  /** @returns why the node does not take the pod */
  readonly admit: () => Refusal | undefined;
  /** Status and stage have changed: show it. */
  readonly show: () => void;
}

/** One CRI call: fault points before and after, a span of the pod's trace, a deadline. */
export async function callRuntime<T>(
  step: Step,
  name: string,
  run: (options: CallOptions) => Promise<T>,
  timeoutMs: number = step.settings.callTimeoutMs,
): Promise<T> {
  step.faults.at(`before ${name}`);
  const span = step.worker.trace.child(name);
  try {
    const result = await run({ signal: step.signal, timeoutMs, ...traceparentOf(span) });
    step.faults.at(`after ${name}`);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

function traceparentOf(span: OpenSpan): { readonly traceparent?: string } {
  const traceparent = formatTraceparent(span.context);
  return traceparent === undefined ? {} : { traceparent };
}

/** What goes wrong becomes an event as well, unless it was only interrupted. */
export async function telling<T>(
  step: Step,
  reason: string,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!step.signal.aborted) step.tell('Warning', reason, `${what}: ${describeError(error)}`);
    throw error;
  }
}

/** A pause, longer by up to a half, so that pods that failed together do not come back together. */
export function jittered(milliseconds: number, random: () => number): number {
  return Math.round(milliseconds * (1 + random() / 2));
}
