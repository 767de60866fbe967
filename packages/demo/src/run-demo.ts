/** The demo from beginning to end. It shows what it finds through its observer as it goes, and returns all of it. */
import { warmThreadPool } from '@podwire/linux';
import type { Io, Progress } from '@podwire/cli/command';
import type { PodTrace } from '@podwire/cli/pods';
import { compact } from '@podwire/platform';
import type { CheckResult } from './checks.js';
import { listBelongings, countLeft, endDemo, keepNamespacesOpen, type Inventory } from './teardown.js';
import type { Engine, EngineCall, RuntimeName } from './engines/engine.js';
import { createDemoHost } from './host.js';
import { type DemoRecord, openRecord } from './record.js';
import { compareLines, describeMachine } from './machine.js';
import { makeParticipants, measureRates, measureReach, type RateResult, startPeers } from './measure.js';
import { endExamples, runExamples } from './pods.js';
import { findPrograms } from './prerequisites.js';
import type { DemoPod, DemoState } from './state.js';

export interface Ending {
  /** Milliseconds of taking the pods down, as `podwire down` does it; absent when none were up. */
  readonly down?: number;
  readonly before: Inventory;
  readonly left: Inventory;
  /** How the machine's own links, addresses, routes and rules differ from before the demo. */
  readonly machineChanges: readonly string[];
}

/** Output of `-o json`. */
export interface DemoReport {
  readonly name: string;
  readonly runtime: RuntimeName;
  readonly pods: readonly DemoPod[];
  readonly checks: readonly CheckResult[];
  readonly rates: readonly RateResult[];
  /** Of the pod with the most to do: from its manifest to each resource of its network. */
  readonly trace: PodTrace;
  /** With `--keep`: where everything is. */
  readonly kept?: { readonly directory: string; readonly namespaces: readonly string[] };
  readonly ending?: Ending;
}

/** Told as the demo goes on. */
export interface DemoObserver {
  up(pods: readonly DemoPod[]): void;
  measured(checks: readonly CheckResult[]): void;
  rated(rates: readonly RateResult[]): void;
  traced(trace: PodTrace): void;
  /** Everything was put away, also after a failure. */
  ended(ending: Ending): void;
}

export interface DemoCall {
  readonly runtime: RuntimeName;
  readonly keep: boolean;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly observer: DemoObserver;
}

/**
 * Runs the demo and takes everything away again, also after a failure or the signal.
 * @throws PodwireError, CriError: what could not be done; the signal's reason
 */
export async function runDemo(call: DemoCall): Promise<DemoReport> {
  const programs = findPrograms();
  await warmThreadPool();
  const machine = describeMachine();
  const record = openRecord(process.pid);
  const state: DemoState = { record, peers: new Map(), namespaces: [] };
  const end = () => concludeDemo(state, machine, call);
  try {
    const found = await perform(state, programs, call);
    const { name } = record.current;
    const report = { name, runtime: call.runtime, ...found };
    return call.keep ? { ...report, kept: release(state) } : { ...report, ending: await end() };
  } catch (error) {
    await end();
    throw error;
  }
}

type Found = Pick<DemoReport, 'pods' | 'checks' | 'rates' | 'trace'>;

async function perform(
  state: DemoState,
  programs: ReturnType<typeof findPrograms>,
  { runtime, io, signal, progress, observer }: DemoCall,
): Promise<Found> {
  const { record } = state;
  const host = await progress.step(
    `private host ${record.current.name}, with a world behind its uplink`,
    () => createDemoHost(programs.ip, record, signal),
  );
  state.host = host;
  const { node } = host;
  const engine = await startEngine(runtime, { node, record, programs, signal }, progress);
  state.up = true;
  const { pods, trace } = await runExamples({
    ...{ node, record, io, progress, signal },
    ...compact({ engine }),
  });
  observer.up(pods);
  const demo = { ...state, host };
  const participants = makeParticipants(host, pods);
  await progress.step('an observer in every pod, on the node and in the world', () =>
    startPeers(demo, participants, pods, signal),
  );
  signal.throwIfAborted();
  const checks = await progress.step('packets sent and answered', () =>
    measureReach(demo, participants, signal),
  );
  observer.measured(checks);
  const rates = await progress.step('bytes poured through the limited pod', () =>
    measureRates(demo, pods, signal),
  );
  observer.rated(rates);
  observer.traced(trace);
  return { pods, checks, rates, trace };
}

async function startEngine(
  runtime: RuntimeName,
  call: EngineCall,
  progress: Progress,
): Promise<Engine | undefined> {
  if (runtime === 'embedded') return undefined;
  return progress.step(`${runtime} started, with an image of this machine's busybox`, async () =>
    runtime === 'docker'
      ? (await import('./engines/docker.js')).startDocker(call)
      : (await import('./engines/containerd.js')).startContainerd(call),
  );
}

function release({ record, peers, host }: DemoState): NonNullable<DemoReport['kept']> {
  for (const peer of peers.values()) peer.release();
  record.note({ kept: true });
  const namespaces = (host?.namespaces ?? []).map(({ name }) => name);
  return { directory: record.current.directory, namespaces };
}

async function concludeDemo(
  state: DemoState,
  machine: readonly string[],
  { io, progress, observer }: DemoCall,
): Promise<Ending> {
  const record: DemoRecord = state.record.current;
  const closeNamespaces = keepNamespacesOpen(record);
  try {
    const known = listBelongings(record);
    for (const { inode } of state.namespaces) known.inodes.add(inode);
    const before = countLeft(record, known);
    const down = state.up === true ? await endExamples(record.directory, io, progress) : undefined;
    await progress.step('everything else put away', () => putAway(state));
    const left = countLeft(record, known);
    const machineChanges = compareLines(machine, describeMachine());
    const ending = { ...compact({ down }), before, left, machineChanges };
    observer.ended(ending);
    return ending;
  } finally {
    closeNamespaces();
  }
}

async function putAway({ namespaces, host, record }: DemoState): Promise<void> {
  await endDemo(record.current);
  for (const namespace of [...namespaces, ...(host?.namespaces ?? [])]) namespace.close();
}
