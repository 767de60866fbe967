/** The demo from beginning to end. It shows what it finds through its observer as it goes, and returns all of it. */
import { warmThreadPool } from '@podwire/linux';
import type { Io } from '../io.js';
import type { PodTrace } from '../pods/trace.js';
import type { Progress } from '../render/progress.js';
import type { CheckResult } from './checks.js';
import { belongingsOf, countLeft, endDemo, holdNamespaces, type Inventory } from './end.js';
import type { Engine, EngineCall, RuntimeName } from './engines/engine.js';
import { createDemoHost } from './host.js';
import { type Ledger, openLedger } from './ledger.js';
import { compareLines, describeMachine } from './machine.js';
import { makeCast, measureRates, measureReach, type RateResult, startPeers } from './measure.js';
import { endExamples, runExamples } from './pods.js';
import { findPrograms } from './prerequisites.js';
import type { DemoPod, Standing } from './scene.js';

export interface Ending {
  /** Milliseconds of taking the pods down, as `podwire down` does it; absent when none were up. */
  readonly down?: number;
  readonly before: Inventory;
  readonly left: Inventory;
  /** How the machine's own links, addresses, routes and rules differ from before the demo. */
  readonly machineChanges: readonly string[];
}

/** What `-o json` prints. */
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
  const ledger = openLedger(process.pid);
  const standing: Standing = { ledger, peers: new Map(), namespaces: [] };
  const end = () => endScene(standing, machine, call);
  try {
    const found = await perform(standing, programs, call);
    const { name } = ledger.current;
    const report = { name, runtime: call.runtime, ...found };
    return call.keep ? { ...report, kept: release(standing) } : { ...report, ending: await end() };
  } catch (error) {
    await end();
    throw error;
  }
}

type Found = Pick<DemoReport, 'pods' | 'checks' | 'rates' | 'trace'>;

async function perform(
  standing: Standing,
  programs: ReturnType<typeof findPrograms>,
  { runtime, io, signal, progress, observer }: DemoCall,
): Promise<Found> {
  const { ledger } = standing;
  const host = await progress.step(
    `private host ${ledger.current.name}, with a world behind its uplink`,
    () => createDemoHost(programs.ip, ledger, signal),
  );
  standing.host = host;
  const { node } = host;
  const engine = await startEngine(runtime, { node, ledger, programs, signal }, progress);
  standing.up = true;
  const { pods, trace } = await runExamples({
    ...{ node, ledger, io, progress, signal },
    ...(engine === undefined ? {} : { engine }),
  });
  observer.up(pods);
  const scene = { ...standing, host };
  const cast = makeCast(host, pods);
  await progress.step('an observer in every pod, on the node and in the world', () =>
    startPeers(scene, cast, pods, signal),
  );
  signal.throwIfAborted();
  const checks = await progress.step('packets sent and answered', () => measureReach(scene, cast, signal));
  observer.measured(checks);
  const rates = await progress.step('bytes poured through the limited pod', () =>
    measureRates(scene, pods, signal),
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

function release({ ledger, peers, host }: Standing): NonNullable<DemoReport['kept']> {
  for (const peer of peers.values()) peer.release();
  ledger.note({ kept: true });
  const namespaces = (host?.namespaces ?? []).map(({ name }) => name);
  return { directory: ledger.current.directory, namespaces };
}

async function endScene(
  standing: Standing,
  machine: readonly string[],
  { io, progress, observer }: DemoCall,
): Promise<Ending> {
  const ledger: Ledger = standing.ledger.current;
  const letGo = holdNamespaces(ledger);
  try {
    const known = belongingsOf(ledger);
    for (const { inode } of standing.namespaces) known.inodes.add(inode);
    const before = countLeft(ledger, known);
    const down = standing.up === true ? await endExamples(ledger.directory, io, progress) : undefined;
    await progress.step('everything else put away', () => putAway(standing));
    const left = countLeft(ledger, known);
    const machineChanges = compareLines(machine, describeMachine());
    const ending = { ...(down === undefined ? {} : { down }), before, left, machineChanges };
    observer.ended(ending);
    return ending;
  } finally {
    letGo();
  }
}

async function putAway({ namespaces, host, ledger }: Standing): Promise<void> {
  await endDemo(ledger.current);
  for (const namespace of [...namespaces, ...(host?.namespaces ?? [])]) namespace.close();
}
