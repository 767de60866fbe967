/** The demo from beginning to end. It shows what it finds through its observer as it goes, and returns all of it. */
import type { EndpointView, Trace, TracesView } from '../api/shapes.js';
import { checkoutFile } from '../checkout.js';
import { nameOf } from '../commands/pods.js';
import { type PodManifest, readPodManifests } from '../manifest.js';
import type { Progress } from '../render/progress.js';
import { type DemoAgent, startDemoAgent } from './agent.js';
import { createDemoRuntime, type DemoRuntime } from './attach.js';
import { type Cast, type CheckResult, commonPort, judge, type Party, planChecks } from './checks.js';
import { countLeft, endDemo, inodesOf, type Inventory } from './end.js';
import { addresses, createDemoHost, type DemoHost } from './host.js';
import { type Ledger, openLedger, type OpenLedger } from './ledger.js';
import { compareLines, describeMachine } from './machine.js';
import type { DemoNamespace } from './namespaces.js';
import type { PeerProtocol } from './peer-messages.js';
import { type Peer, startPeer } from './peers.js';
import { findPrograms } from './prerequisites.js';
import { warmThreadPool } from '@podwire/linux';

/** A pod of the demo, attached. */
export interface DemoPod {
  readonly endpoint: EndpointView;
  /** Milliseconds from before the plugin's start until it had ended. */
  readonly add: number;
}

export interface RateResult {
  readonly from: string;
  readonly to: string;
  /** Bits per second that were asked for; absent where there is no limit. */
  readonly limit?: number;
  /** Bits per second, as the receiver counted. */
  readonly measured: number;
}

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
}

export interface DemoCall {
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly observer: DemoObserver;
}

const examples = ['web', 'client', 'limited'].map((name) => checkoutFile(`examples/${name}.yaml`));

/** Everything that stands while the demo runs. */
interface Scene {
  readonly ledger: OpenLedger;
  readonly host: DemoHost;
  readonly agent: DemoAgent;
  readonly runtime: DemoRuntime;
  readonly attached: Attached[];
  readonly peers: Map<string, Peer>;
}

interface Attached {
  readonly pod: PodManifest;
  readonly namespace: DemoNamespace;
  readonly add: number;
}

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
  const standing: Partial<Scene> & Pick<Scene, 'ledger' | 'attached' | 'peers'> = {
    ledger,
    attached: [],
    peers: new Map(),
  };
  try {
    const scene = await build(standing, programs, call);
    const found = await perform(scene, manifests, call);
    if (call.keep) return { name: ledger.current.name, ...found, kept: release(scene) };
    const ending = await end(standing, machine, call);
    return { name: ledger.current.name, ...found, ending };
  } catch (error) {
    await call.progress.step('putting everything away', () => putAway(standing));
    throw error;
  }
}

type Standing = Partial<Scene> & Pick<Scene, 'ledger' | 'attached' | 'peers'>;

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
  const checks = await progress.step('packets sent and answered', () => measure(scene, cast, signal));
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

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

function makeCast({ families }: DemoHost, pods: readonly DemoPod[]): Cast {
  const limit = (all: Readonly<Record<4 | 6, string>>): Party['addresses'] =>
    Object.fromEntries(families.map((family) => [family, all[family]]));
  const parties = pods.map(({ endpoint }): Party => ({
    name: endpoint.pod.name ?? endpoint.containerId,
    addresses: Object.fromEntries(endpoint.addresses.map((address) => [familyOf(address), address])),
  }));
  return {
    pods: parties,
    node: { name: 'node', addresses: limit(addresses.node) },
    world: { name: 'world', addresses: limit(addresses.world) },
    families,
    published: pods.flatMap(({ endpoint }, index) =>
      endpoint.portMappings
        .filter(({ protocol }) => protocol !== 'sctp')
        .map(({ hostPort, protocol }) => ({
          pod: parties[index]!,
          hostPort,
          protocol: protocol as PeerProtocol,
        })),
    ),
  };
}

/** All at once: each takes as long as Node takes to start. */
async function startPeers({ host, attached, peers, ledger }: Scene, { node, world }: Cast): Promise<void> {
  const common = (['tcp', 'udp'] as const).map((protocol) => ({ protocol, port: commonPort }));
  const wanted = [
    { name: node.name, namespace: host.node, ports: common },
    { name: world.name, namespace: host.world, ports: common },
    ...attached.map(({ pod, namespace }) => ({
      name: pod.name,
      namespace,
      ports: [...common, ...ownPorts(pod)],
    })),
  ];
  const started = await Promise.allSettled(
    wanted.map(async ({ namespace, ...settings }) => {
      peers.set(settings.name, await startPeer(namespace, settings, ledger));
    }),
  );
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function ownPorts({ portMappings }: PodManifest): { protocol: PeerProtocol; port: number }[] {
  return portMappings
    .filter(({ protocol }) => protocol !== 'sctp')
    .map(({ containerPort, protocol }) => ({ protocol: protocol as PeerProtocol, port: containerPort }));
}

/** Questions that are under way at once: more would only measure the queue. */
const atOnce = 2;

async function measure({ peers }: Scene, cast: Cast, signal: AbortSignal): Promise<CheckResult[]> {
  const checks = planChecks(cast);
  const results: CheckResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < checks.length; at = next++) {
      signal.throwIfAborted();
      const check = checks[at]!;
      const { protocol, address, port } = check;
      results[at] = judge(check, await peers.get(check.from)!.ask(protocol, address, port));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/** Seconds that a limited transfer takes: long enough for the bucket's contents not to count. */
const pourSeconds = 1;
const unlimitedBytes = 64 << 20;

async function measureRates(
  { peers }: Scene,
  pods: readonly DemoPod[],
  signal: AbortSignal,
): Promise<RateResult[]> {
  const limited = pods.find(({ endpoint }) => endpoint.bandwidth !== undefined)?.endpoint;
  const [one, other] = pods.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== limited);
  if (limited === undefined || one === undefined || other === undefined) return [];
  const { ingressRate, egressRate } = limited.bandwidth ?? {};
  // One after the other: a transfer at full speed would take the processor away from the others.
  const wanted = [
    { from: one, to: limited, limit: ingressRate },
    { from: limited, to: one, limit: egressRate },
    { from: one, to: other, limit: undefined },
  ];
  const results: RateResult[] = [];
  for (const { from, to, limit } of wanted) {
    signal.throwIfAborted();
    const bytes = limit === undefined ? unlimitedBytes : Math.round((limit / 8) * pourSeconds);
    const names = { from: from.pod.name ?? '', to: to.pod.name ?? '' };
    const poured = await peers.get(names.from)!.pour(to.addresses[0]!, commonPort, bytes);
    const measured = (poured.bytes * 8 * 1_000) / poured.milliseconds;
    results.push({ ...names, ...(limit === undefined ? {} : { limit }), measured });
  }
  return results;
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

async function end(standing: Standing, machine: readonly string[], { progress }: DemoCall): Promise<Ending> {
  const ledger: Ledger = standing.ledger.current;
  const inodes = inodesOf(ledger);
  const before = countLeft(ledger, inodes);
  const dels = await progress.step('pods detached, agent stopped, everything taken away', () =>
    putAway(standing),
  );
  const left = countLeft(ledger, inodes);
  return { dels, before, left, machineChanges: compareLines(machine, describeMachine()) };
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
