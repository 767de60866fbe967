/** The demo from beginning to end. It shows what it finds through its observer as it goes, and returns all of it. */
import { warmThreadPool } from '@podwire/linux';
import type { EndpointView, Trace, TracesView } from '../api/shapes.js';
import { checkoutFile } from '../checkout.js';
import { nameOf } from '../commands/pods.js';
import { type PodManifest, readPodManifests } from '../manifest.js';
import type { Progress } from '../render/progress.js';
import { type DemoAgent, startDemoAgent } from './agent.js';
import { createDemoRuntime } from './attach.js';
import type { CheckResult } from './checks.js';
import { countLeft, endDemo, inodesOf, type Inventory } from './end.js';
import { createDemoHost } from './host.js';
import { type Ledger, openLedger } from './ledger.js';
import { compareLines, describeMachine } from './machine.js';
import { makeCast, measureRates, measureReach, type RateResult, startPeers } from './measure.js';
import { findPrograms } from './prerequisites.js';
import type { DemoPod, Scene, Standing } from './scene.js';

export interface Ending {
  /** Milliseconds of each DEL, as `DemoPod.add`. */
  readonly dels: readonly number[];
  readonly before: Inventory;
  readonly left: Inventory;
  /** How the machine's own links, addresses, routes and rules differ from before the demo. */
  readonly machineChanges: readonly string[];
}

/** What `-o json` prints. */
export interface DemoReport {
  readonly name: string;
  readonly pods: readonly DemoPod[];
  readonly checks: readonly CheckResult[];
  readonly rates: readonly RateResult[];
  /** The ADD of the pod with the most to do. */
  readonly trace: Trace;
  /** With `--keep`: where everything is. */
  readonly kept?: { readonly socket: string; readonly namespaces: readonly string[] };
  readonly ending?: Ending;
}

/** Told as the demo goes on. */
export interface DemoObserver {
  attached(pods: readonly DemoPod[]): void;
  measured(checks: readonly CheckResult[]): void;
  rated(rates: readonly RateResult[]): void;
  traced(trace: Trace): void;
  /** Everything was put away, also after a failure. */
  ended(ending: Ending): void;
}

export interface DemoCall {
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly observer: DemoObserver;
}

const examples = ['web', 'client', 'limited'].map((name) => checkoutFile(`examples/${name}.yaml`));

/**
 * Runs the demo and takes everything away again, also after a failure or the signal.
 * @throws PodwireError, CniError: what could not be done; the signal's reason
 */
export async function runDemo(call: DemoCall): Promise<DemoReport> {
  const manifests = readPodManifests(examples);
  const programs = findPrograms();
  await warmThreadPool();
  const machine = describeMachine();
  const ledger = openLedger(process.pid);
  const standing: Standing = { ledger, attached: [], peers: new Map() };
  const end = () => endScene(standing, machine, call);
  try {
    const scene = await build(standing, programs, call);
    const found = await perform(scene, manifests, call);
    const { name } = ledger.current;
    return call.keep ? { name, ...found, kept: release(scene) } : { name, ...found, ending: await end() };
  } catch (error) {
    await end();
    throw error;
  }
}

async function build(
  standing: Standing,
  { ip, podwire, pluginDirectory }: ReturnType<typeof findPrograms>,
  { signal, progress }: DemoCall,
): Promise<Scene> {
  const { ledger } = standing;
  const { name, directory } = ledger.current;
  const host = await progress.step(`private host ${name}, with a world behind its uplink`, () =>
    createDemoHost(ip, ledger, signal),
  );
  const agent = await progress.step('node agent started inside, with its defaults', () =>
    startDemoAgent(podwire, host.node, ledger, signal),
  );
  const { socket } = agent;
  const runtime = createDemoRuntime({ node: host.node, name, directory, pluginDirectory, socket, signal });
  return Object.assign(standing, { host, agent, runtime });
}

async function perform(
  scene: Scene,
  manifests: readonly PodManifest[],
  { signal, progress, observer }: DemoCall,
): Promise<Pick<DemoReport, 'pods' | 'checks' | 'rates' | 'trace'>> {
  const pods = await progress.step(`${manifests.length} pods of examples/ attached by podwire-cni`, () =>
    attachAll(scene, manifests, signal),
  );
  observer.attached(pods);
  const cast = makeCast(scene.host, pods);
  await progress.step('a process in every pod, on the node and in the world', () => startPeers(scene, cast));
  signal.throwIfAborted();
  const checks = await progress.step('packets sent and answered', () => measureReach(scene, cast, signal));
  observer.measured(checks);
  const rates = await progress.step('bytes poured through the limited pod', () =>
    measureRates(scene, pods, signal),
  );
  observer.rated(rates);
  const trace = await readTrace(scene.agent, pods);
  observer.traced(trace);
  return { pods, checks, rates, trace };
}

async function attachAll(
  { host, runtime, attached, agent }: Scene,
  manifests: readonly PodManifest[],
  signal: AbortSignal,
): Promise<DemoPod[]> {
  for (const pod of manifests) {
    signal.throwIfAborted();
    const namespace = host.addPod(pod.name);
    // Noted first: an ADD that is broken off may have been done.
    const entry = { pod, namespace, add: 0 };
    attached.push(entry);
    attached[attached.length - 1] = { ...entry, add: await runtime.add(pod, namespace.path) };
  }
  const { endpoints } = await agent.api.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints');
  return attached.map(({ pod, add }) => {
    const endpoint = endpoints.find((each) => nameOf(each) === `${pod.namespace}/${pod.name}`);
    if (endpoint === undefined)
      throw new Error(`the agent does not know the pod ${pod.name} that it has attached`);
    return { endpoint, add };
  });
}

/** Of the pod with rates and ports, which has the most to do. */
async function readTrace({ api }: DemoAgent, pods: readonly DemoPod[]): Promise<Trace> {
  const { traces } = await api.get<TracesView>('/v1/traces?limit=100');
  const chosen = pods.find(({ endpoint }) => endpoint.bandwidth !== undefined) ?? pods[0];
  const trace = traces.find(
    ({ command, endpoint }) => command === 'ADD' && endpoint === chosen?.endpoint.key,
  );
  if (trace === undefined) throw new Error('the agent has not kept the trace of an ADD');
  return trace;
}

function release({ ledger, peers, agent, host }: Scene): NonNullable<DemoReport['kept']> {
  for (const peer of peers.values()) peer.release();
  ledger.note({ kept: true });
  return { socket: agent.api.socket, namespaces: host.namespaces.map(({ name }) => name) };
}

async function endScene(
  standing: Standing,
  machine: readonly string[],
  { progress, observer }: DemoCall,
): Promise<Ending> {
  const ledger: Ledger = standing.ledger.current;
  const inodes = inodesOf(ledger);
  const before = countLeft(ledger, inodes);
  const dels = await progress.step('pods detached, agent stopped, everything taken away', () =>
    putAway(standing),
  );
  const left = countLeft(ledger, inodes);
  const ending = { dels, before, left, machineChanges: compareLines(machine, describeMachine()) };
  observer.ended(ending);
  return ending;
}

/** Detaches in reverse as a runtime does, then ends all processes and namespaces. Nothing of it is left out by a failure. */
async function putAway({ runtime, attached, host, ledger }: Standing): Promise<number[]> {
  const dels: number[] = [];
  const failures: unknown[] = [];
  for (const { pod, namespace } of attached.splice(0).reverse()) {
    if (runtime === undefined) continue;
    await runtime.del(pod, namespace.path).then(
      (duration) => dels.unshift(duration),
      (error: unknown) => failures.push(error),
    );
  }
  for (const namespace of host?.namespaces ?? []) namespace.delete();
  await endDemo(ledger.current);
  if (failures.length > 0) throw failures[0];
  return dels;
}
