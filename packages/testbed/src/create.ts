/** Creates a testbed. */
import { setMaxListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createPools } from '@podwire/cluster-ipam/operations';
import { keysBelow } from '@podwire/cluster-state';
import { hasIpv6, warmThreadPool } from '@podwire/linux';
import { compact, systemClock } from '@podwire/platform';
import { makeNamespace, type TestbedNamespace } from './net/namespaces.js';
import { planCable, planFabric, planUplink } from './net/wiring.js';
import { type NodePaths, parentDirectory } from './paths.js';
import { findPrograms, type Programs, requireRoom } from './programs.js';
import { createRecord, type OpenRecord } from './record.js';
import { type ConfigAdditions, writeAgentConfig } from './run/agent.js';
import { chooseDatapath } from './run/open-vswitch.js';
import { saveNetwork } from './run/sdn-objects.js';
import {
  checkShape,
  planPools,
  podRanges,
  planTopology,
  podName,
  type Shape,
  type Topology,
  defaultName,
  defaultShape,
  networkName,
  sdnNetwork,
  storeRoot,
} from './shape.js';
import { tearDownTestbed } from './teardown.js';
import { assembleTestbed, fabricName, type Testbed } from './testbed.js';

export interface TestbedOptions extends Partial<Shape> {
  /** `default` when absent. */
  readonly name?: string;
  /** Where `podwire` and `podwire-cni` are; those of this checkout or installation when absent. */
  readonly binDirectory?: string;
  /** The command line of agents up to `--config FILE`; `podwire agent` when absent. */
  readonly entry?: readonly string[];
  /** Environment of the agents, added to this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Added to the configuration of every agent. */
  readonly config?: ConfigAdditions;
  readonly signal?: AbortSignal;
  /** Called for each step. */
  readonly observer?: StepObserver;
}

/** Runs a step; the step calls `report` with its progress. */
export type StepObserver = <T>(
  what: string,
  work: (report: (detail: string) => void) => Promise<T>,
) => Promise<T>;

/** Pods attached at the same time. */
const podsAtOnce = 8;

/**
 * Creates a testbed. When it resolves, all agents are ready and all pods attached; {@link waitUntilConnected} waits for
 * connectivity. After a failure, or the signal, everything is removed.
 * @throws PodwireError REQUEST_INVALID, PREREQUISITE_MISSING, PRIVILEGE_MISSING, TESTBED_FAILED; the signal's reason
 */
export async function createTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  const { name = defaultName, signal = new AbortController().signal } = options;
  const shape = shapeOf(options);
  checkShape(name, shape);
  // Every agent and every pod listens to it.
  setMaxListeners(0, signal);
  const programs = findPrograms(shape, options.binDirectory);
  if (shape.store === 'etcd') requireRoom(path.dirname(parentDirectory));
  signal.throwIfAborted();
  await warmThreadPool();
  const record = createRecord(name, shape, Date.now());
  try {
    return await build(record, programs, { ...options, signal });
  } catch (error) {
    await tearDownTestbed(name);
    throw signal.aborted ? signal.reason : error;
  }
}

function shapeOf(options: TestbedOptions): Shape {
  const keys = Object.keys(defaultShape) as (keyof Shape)[];
  const given = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]);
  const families = (options.model ?? 'routed') === 'routed' && hasIpv6() ? 'dual' : 'ipv4';
  return { ...defaultShape, families, ...(Object.fromEntries(given) as Partial<Shape>) };
}

const silently: StepObserver = (_, work) => work(() => undefined);

type CreateOptions = TestbedOptions & { readonly signal: AbortSignal };

async function build(record: OpenRecord, programs: Programs, options: CreateOptions): Promise<Testbed> {
  const { signal, observer: step = silently, entry, env } = options;
  const { shape } = record.current;
  const topology = planTopology(shape);
  const { fabric, namespaces } = await step(`${describeNodes(shape)}, each a network namespace`, () =>
    wire(record, programs, topology, signal),
  );
  const testbed = assembleTestbed({
    ...{ record, topology, programs, fabric, namespaces },
    ...compact({ entry, env }),
  });
  try {
    await fill(testbed, record, options);
    return testbed;
  } catch (error) {
    await testbed.release();
    throw error;
  }
}

/** Starts store and agents, and attaches the pods. */
async function fill(
  testbed: Testbed,
  record: OpenRecord,
  { signal, observer: step = silently, config }: CreateOptions,
): Promise<void> {
  const { shape } = record.current;
  const what = shape.store === 'etcd' ? 'etcd' : 'an embedded store';
  await step(`${what} with the cluster's pools`, () => startStore(testbed, shape, signal));
  for (const node of testbed.nodes)
    writeAgentConfig(node, record.paths.node(node.name), testbed.store.specFor(node.segment.gateway), {
      ...describeNetworking(shape, record.paths.node(node.name)),
      ...config,
    });
  if (shape.model !== 'routed')
    await step(`Open vSwitch on ${count(shape.nodes, 'node')}, datapath ${chooseDatapath()}`, () =>
      allOrFirstFailure(testbed.nodes.map(({ openVSwitch }) => openVSwitch!.start(signal))),
    );
  if (shape.model === 'ovn')
    await step(`OVN with ${count(shape.nodes, 'chassis', '')}, tunnels of ${shape.encapsulation}`, () =>
      startOvn(testbed, signal),
    );
  await step(`${count(shape.nodes, 'agent')} ready`, (report) => startAgents(testbed, report, signal));
  if (shape.pods > 0)
    await step(`${count(shape.nodes * shape.pods, 'pod')} attached by the plugin`, (report) =>
      addPods(testbed, shape, report, signal),
    );
  record.update(() => ({ phase: 'up' }));
}

/** The part of an agent's configuration that depends on the model. */
function describeNetworking(shape: Shape, { ovsRunDir }: NodePaths): ConfigAdditions {
  const network = { name: networkName, model: shape.model };
  if (shape.model === 'routed') return { networks: [network] };
  const options = { ...optionsOf(shape), datapath: chooseDatapath() };
  return { networks: [{ ...network, options }], openvswitch: { runDir: ovsRunDir } };
}

function optionsOf({ model, mode, encapsulation }: Shape): Readonly<Record<string, unknown>> {
  if (model === 'ovn') return { encapsulation };
  const { clusterNetwork, serviceNetwork } = sdnNetwork;
  return { mode, clusterNetworks: [clusterNetwork], serviceNetwork };
}

const count = (number: number, what: string, plural = 's'): string =>
  `${number} ${what}${number === 1 ? '' : plural}`;

const describeNodes = ({ nodes, subnets }: Shape): string =>
  `${count(nodes, 'node')}${subnets > 1 ? ` in ${subnets} subnets` : ''}`;

async function wire(
  record: OpenRecord,
  { ip }: Programs,
  topology: Topology,
  signal: AbortSignal,
): Promise<{ fabric: TestbedNamespace; namespaces: Map<string, TestbedNamespace> }> {
  const { paths, current } = record;
  const made: TestbedNamespace[] = [];
  const make = (name: string): TestbedNamespace => {
    const namespace = makeNamespace(record, paths.namespace(name));
    made.push(namespace);
    return namespace;
  };
  const batch = (inside: TestbedNamespace, lines: readonly string[]): Promise<string> =>
    inside.run([ip, '-batch', '-'], { signal, input: `${lines.join('\n')}\n`, timeout: wiringDeadline });
  try {
    const fabric = make(fabricName);
    const namespaces = new Map(topology.nodes.map(({ name }) => [name, make(name)]));
    fabric.inside(() => setRouter(topology.segments.length > 1));
    await batch(fabric, planFabric(topology, podRanges(current.shape), paths.namespace));
    const hasBridge = current.shape.model !== 'routed' && chooseDatapath() === 'netdev';
    for (const node of topology.nodes)
      await batch(namespaces.get(node.name)!, hasBridge ? planCable() : planUplink(node));
    return { fabric, namespaces };
  } catch (error) {
    for (const each of made) each.release();
    throw error;
  }
}

const wiringDeadline = 60_000;

/** Forwards between segments. `accept_local`: misrouted packets carry a source address that is local here. */
function setRouter(forwards: boolean): void {
  const set = (file: string, value: string): void => fs.writeFileSync(`/proc/sys/net/${file}`, value);
  set('ipv4/conf/all/accept_local', '1');
  set('ipv4/conf/all/rp_filter', '0');
  set('ipv4/conf/default/rp_filter', '0');
  if (!forwards) return;
  set('ipv4/ip_forward', '1');
  set('ipv6/conf/all/forwarding', '1');
}

async function startStore(testbed: Testbed, shape: Shape, signal: AbortSignal): Promise<void> {
  if (shape.store === 'etcd') await testbed.store.server.start(signal);
  const store = await testbed.store.open();
  try {
    const access = { store, keys: keysBelow(storeRoot), clock: systemClock };
    await createPools(access, planPools(shape), signal);
    if (shape.model === 'sdn') await saveNetwork(store, shape.mode, signal);
  } finally {
    await store.close();
  }
}

async function startOvn({ ovn, nodes }: Testbed, signal: AbortSignal): Promise<void> {
  await ovn!.start(signal);
  await allOrFirstFailure(nodes.map(({ ovnController }) => ovnController!.start(signal)));
}

async function startAgents(
  { nodes }: Testbed,
  report: (detail: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let ready = 0;
  await allOrFirstFailure(
    nodes.map(async ({ agent }) => {
      await agent.start(signal);
      report(`${++ready} of ${nodes.length}`);
    }),
  );
}

/** Throws only when all have ended, so that nothing is started during the teardown. */
async function allOrFirstFailure(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
}

async function addPods(
  testbed: Testbed,
  shape: Shape,
  report: (detail: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // Round robin, so that the nodes share the work.
  const wanted = Array.from({ length: shape.pods }, (_, index) =>
    testbed.nodes.map(({ name }, at) => ({ node: name, name: podName(at + 1, index) })),
  ).flat();
  let next = 0;
  let ready = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < wanted.length; at = next++) {
      await testbed.addPod(wanted[at]!.node, { name: wanted[at]!.name }, signal);
      report(`${++ready} of ${wanted.length}`);
    }
  };
  await allOrFirstFailure(Array.from({ length: podsAtOnce }, worker));
}
