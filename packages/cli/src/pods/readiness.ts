/** Readiness of a pod and the reason why it waits; pure. */
import type { PodView } from '@podwire/podlet';
import { findReason } from './reason.js';

export interface PodReadiness {
  readonly state: 'waiting' | 'ready' | 'succeeded' | 'failed';
  /** Reason why it waits or failed, in a few words; empty when all is well. */
  readonly why: string;
}

export function evaluatePod(pod: PodView): PodReadiness {
  const { status } = pod;
  if (status.phase === 'Succeeded') return { state: 'succeeded', why: '' };
  if (status.phase === 'Failed') return { state: 'failed', why: explain(pod) };
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return { state: 'ready', why: '' };
  return { state: 'waiting', why: explain(pod) };
}

function explain(pod: PodView): string {
  const { reason = '', message } = findReason(pod) ?? {};
  return message === undefined ? reason : `${reason}: ${message}`;
}

/** State of a pod in `ps` in one word, as kubectl shows it: the most telling of phase, reasons and stage. */
export function describeState(pod: PodView): string {
  if (pod.stage === 'terminating') return 'Terminating';
  if (pod.status.reason === 'Stopped') return pod.stage === 'terminated' ? 'Stopped' : 'Stopping';
  const initialising = pod.status.phase === 'Pending' ? describeInit(pod) : undefined;
  if (initialising !== undefined) return initialising;
  const containers = [...pod.status.initContainerStatuses, ...pod.status.containerStatuses];
  const waiting = containers.map(({ state }) => state.waiting?.reason).find((reason) => reason !== undefined);
  if (waiting !== undefined && pod.status.phase !== 'Succeeded') return waiting;
  const ended = containers.map(({ state }) => state.terminated).find((each) => (each?.exitCode ?? 0) !== 0);
  if (ended !== undefined && pod.status.phase === 'Failed') return ended.reason;
  return pod.status.phase === 'Succeeded' ? 'Completed' : pod.status.phase;
}

/** `Init:1/2`: so many are over; or what keeps the next one, as kubectl has it. */
function describeInit({ status: { initContainerStatuses: all } }: PodView): string | undefined {
  const over = all.findIndex(({ ready }) => !ready);
  const next = all[over];
  if (next === undefined) return undefined;
  const { terminated, waiting } = next.state;
  if ((terminated?.exitCode ?? 0) !== 0) return `Init:${terminated!.reason}`;
  if (waiting !== undefined && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${over}/${all.length}`;
}
