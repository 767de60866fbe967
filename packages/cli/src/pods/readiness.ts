/** Whether a pod is where it should be, and what it waits for; pure. */
import type { PodView } from '@podwire/podlet';

export interface PodReadiness {
  readonly state: 'waiting' | 'ready' | 'succeeded' | 'failed';
  /** What it waits for or why it failed, in a few words; empty when all is well. */
  readonly why: string;
}

export function evaluatePod(pod: PodView): PodReadiness {
  const { status } = pod;
  if (status.phase === 'Succeeded') return { state: 'succeeded', why: '' };
  if (status.phase === 'Failed') return { state: 'failed', why: explainFailure(pod) };
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return { state: 'ready', why: '' };
  return { state: 'waiting', why: explainWaiting(pod) };
}

function explainFailure({ status }: PodView): string {
  if (status.message !== undefined) return status.message;
  const ended = status.containerStatuses.find(({ state }) => (state.terminated?.exitCode ?? 0) !== 0);
  if (ended?.state.terminated === undefined) return status.reason ?? '';
  const { exitCode, reason } = ended.state.terminated;
  return `container ${ended.name}: ${reason}, exit code ${exitCode}`;
}

/** The latest warning says more than any state. */
function explainWaiting({ status, events }: PodView): string {
  const warning = events.filter(({ type }) => type === 'Warning').toSorted((a, b) => b.lastAt - a.lastAt)[0];
  if (warning !== undefined) return `${warning.reason}: ${warning.message}`;
  const all = [...status.initContainerStatuses, ...status.containerStatuses];
  const waiting = all.find(({ state }) => state.waiting !== undefined);
  if (waiting?.state.waiting !== undefined) {
    const { reason, message } = waiting.state.waiting;
    return message === undefined ? reason : `${reason}: ${message}`;
  }
  const unready = status.conditions.find(({ status: is }) => is === 'False');
  return unready?.message ?? unready?.reason ?? 'not started yet';
}

/** What `ps` shows in one word, as kubectl does: the most telling of phase, reasons and stage. */
export function describeState(pod: PodView): string {
  if (pod.stage === 'terminating') return 'Terminating';
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
