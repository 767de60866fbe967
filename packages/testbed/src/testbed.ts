/** Operations on an existing testbed. */
import { PodwireError } from '@podwire/errors';
import { warmThreadPool } from '@podwire/linux';
import { compact } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { openTestbedNamespace, type TestbedNamespace } from './net/namespaces.js';
import { type NodePaths, pathsOf } from './paths.js';
import type { AnnotationChanges } from './pod-spec.js';
import type { ConnectivityReport, ProbeOptions } from './probe/run.js';
import { probeTestbed } from './probe/testbed.js';
import { findPrograms, type Programs } from './programs.js';
import { type OpenRecord, openRecord, type PodRecord, readRecord, type TestbedRecord } from './record.js';
import { createTestbedAgent, type TestbedAgent } from './run/agent.js';
import {
  addPod,
  createPodRuntime,
  openPod,
  type PodRuntime,
  type PodRequest,
  removePod,
  type TestbedPod,
} from './run/pods.js';
import { chassisCommands, createOvnController } from './run/chassis.js';
import type { Daemon } from './run/daemon.js';
import { chooseDatapath, createTestbedSwitch, type TestbedSwitch } from './run/open-vswitch.js';
import { createTestbedOvn, type TestbedOvn } from './run/ovn.js';
import { annotateInStore, changeAnnotations } from './run/pod-annotations.js';
import { ensureNamespace } from './run/sdn-objects.js';
import { createTestbedStore, type TestbedStore } from './run/store.js';
import { type PlannedNode, planTopology, type Topology } from './shape.js';
import { tearDownTestbed } from './teardown.js';

export interface TestbedNode extends PlannedNode {
  readonly namespace: TestbedNamespace;
  readonly agent: TestbedAgent;
  /** Its container runtime. */
  readonly pods: PodRuntime;
  /** Where the model needs it. */
  readonly openVSwitch: TestbedSwitch | undefined;
  /** Of the model ovn. */
  readonly ovnController: Daemon | undefined;
}

export interface PodReference extends Pick<PodRecord, 'namespace' | 'name'> {
  /** Any node when absent. */
  readonly node?: string;
}

export interface Testbed {
  readonly name: string;
  readonly directory: string;
  readonly topology: Topology;
  readonly record: TestbedRecord;
  /** Namespace of the bridges, the router, etcd and the outside address. */
  readonly fabric: TestbedNamespace;
  readonly nodes: readonly TestbedNode[];
  readonly pods: readonly TestbedPod[];
  readonly store: TestbedStore;
  /** Of the model ovn. */
  readonly ovn: TestbedOvn | undefined;
  /** @throws PodwireError NODE_UNKNOWN */
  node(name: string): TestbedNode;
  /** @throws PodwireError TESTBED_FAILED with the plugin's error */
  addPod(node: string, pod: PodRequest, signal?: AbortSignal): Promise<TestbedPod>;
  /** @throws CniError; PodwireError POD_UNKNOWN, also where the pod is on another node than the one that is named */
  removePod(pod: PodReference): Promise<void>;
  /**
   * Changes annotations of a pod that runs, in the store. Of the model ovn alone.
   * @throws PodwireError POD_UNKNOWN; TESTBED_FAILED in other models
   */
  annotatePod(pod: PodReference, changes: AnnotationChanges, signal: AbortSignal): Promise<TestbedPod>;
  /** Sets the node's link on its segment down. */
  cutOff(node: string): Promise<void>;
  rejoin(node: string): Promise<void>;
  /** Probes the connectivity of all participants. */
  matrix(options?: ProbeOptions): Promise<ConnectivityReport>;
  /** Closes all handles; the testbed stays up. */
  release(): Promise<void>;
  /** Removes the testbed. */
  close(): Promise<void>;
}

export interface TestbedParts {
  readonly record: OpenRecord;
  readonly topology: Topology;
  readonly programs: Programs;
  readonly fabric: TestbedNamespace;
  readonly namespaces: ReadonlyMap<string, TestbedNamespace>;
  /** The command line of agents up to `--config FILE`. */
  readonly entry?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Opens the handles of a testbed. */
export function assembleTestbed(parts: TestbedParts, pods: TestbedPod[] = []): Testbed {
  const { record, topology, programs, fabric } = parts;
  const [segment] = topology.segments;
  const store = createTestbedStore({
    ...{ record, namespace: fabric, etcd: programs.etcd },
    kind: record.current.shape.store,
    gateway: segment!.gateway,
  });
  const ovn = assembleOvn(parts, store.nameFor(segment!.gateway));
  const nodes = topology.nodes.map((node) => assembleNode(parts, node, ovn));
  const nodeOf = (name: string): TestbedNode => {
    const found = nodes.find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new PodwireError('NODE_UNKNOWN', `the testbed ${record.current.name} has no node ${name}`, {
      action: '`podwire testbed status` lists them.',
    });
  };
  const setLink = async (name: string, state: 'up' | 'down'): Promise<void> =>
    void (await fabric.run([programs.ip, 'link', 'set', nodeOf(name).port, state]));
  const release = async (): Promise<void> => {
    await store.release();
    for (const each of [fabric, ...nodes.map(({ namespace }) => namespace)]) each.release();
    for (const pod of pods) pod.network.release();
  };
  const testbed: Testbed = {
    ...{ name: record.current.name, directory: record.paths.directory },
    ...{ topology, fabric, nodes, store, ovn, pods, node: nodeOf, release },
    get record() {
      return record.current;
    },
    async addPod(node: string, request: PodRequest, signal?: AbortSignal) {
      const { pods: runtime } = nodeOf(node);
      if (record.current.shape.model === 'sdn') await ensureNamespaceOf(request, store, signal);
      const pod = await addPod(record, node, runtime, request, signal);
      pods.push(pod);
      return pod;
    },
    async removePod(reference: PodReference) {
      const at = findPod(pods, reference);
      await removePod(record, pods[at]!, nodeOf(pods[at]!.node).pods);
      pods.splice(at, 1);
    },
    async annotatePod(reference: PodReference, changes: AnnotationChanges, signal: AbortSignal) {
      const at = findPod(pods, reference);
      return (pods[at] = await annotatePod({ record, store }, pods[at]!, changes, signal));
    },
    cutOff: (name: string) => setLink(name, 'down'),
    rejoin: (name: string) => setLink(name, 'up'),
    matrix: (options?: ProbeOptions) => probeTestbed(testbed, options),
    async close() {
      record.update(() => ({ phase: 'going down' }));
      await release();
      await tearDownTestbed(record.current.name);
    },
  };
  return testbed;
}

/** @returns its index. @throws PodwireError POD_UNKNOWN */
function findPod(pods: readonly PodRecord[], { namespace, name, node }: PodReference): number {
  const at = pods.findIndex(
    (pod) => pod.namespace === namespace && pod.name === name && (node === undefined || pod.node === node),
  );
  if (at >= 0) return at;
  const place = node === undefined ? '' : ` on ${node}`;
  throw new PodwireError('POD_UNKNOWN', `there is no pod ${namespace}/${name}${place}`, {
    action: '`podwire testbed status` lists them.',
  });
}

async function annotatePod(
  { record, store: stores }: Pick<TestbedParts, 'record'> & Pick<Testbed, 'store'>,
  pod: TestbedPod,
  changes: AnnotationChanges,
  signal: AbortSignal,
): Promise<TestbedPod> {
  if (record.current.shape.model !== 'ovn')
    throw new PodwireError('TESTBED_FAILED', 'only pods of the model ovn have annotations that change', {
      action: 'Delete the pod, and add it with other annotations.',
    });
  await withStore(stores, (store) => annotateInStore(store, pod, changes, signal));
  const annotations = changeAnnotations(pod.annotations ?? {}, changes);
  record.update(({ pods }) => ({
    pods: pods.map((each) => (each.containerId === pod.containerId ? { ...each, annotations } : each)),
  }));
  return { ...pod, annotations };
}

async function withStore<T>(stores: TestbedStore, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await stores.open();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The model keeps pods apart by their namespaces. */
async function ensureNamespaceOf(
  { namespace = 'default' }: PodRequest,
  stores: TestbedStore,
  signal: AbortSignal | undefined,
): Promise<void> {
  await withStore(stores, (store) => ensureNamespace(store, namespace, signal));
}

function assembleOvn({ record, programs, fabric }: TestbedParts, store: string): TestbedOvn | undefined {
  const { podwire, ovn, openVSwitch } = programs;
  if (ovn === undefined || openVSwitch === undefined) return undefined;
  return createTestbedOvn({ record, namespace: fabric, programs: { podwire, ovn, openVSwitch }, store });
}

function assembleNode(
  { record, programs, fabric, namespaces, ...parts }: TestbedParts,
  place: PlannedNode,
  ovn: TestbedOvn | undefined,
): TestbedNode {
  const namespace = namespaces.get(place.name)!;
  const paths = record.paths.node(place.name);
  const { entry = [programs.podwire, 'agent'], env } = parts;
  const agent = createTestbedAgent({
    ...{ node: place, paths, record, namespace, entry },
    ...compact({ env }),
  });
  return {
    ...{ ...place, namespace, agent },
    ...assembleSwitches({ node: place, paths, record, namespace, fabric, programs }, ovn),
    pods: createPodRuntime(namespace, paths, programs.plugins),
  };
}

interface NodeParts extends Pick<TestbedParts, 'record' | 'fabric' | 'programs'> {
  readonly node: PlannedNode;
  readonly paths: NodePaths;
  readonly namespace: TestbedNamespace;
}

function assembleSwitches(
  { programs, ...parts }: NodeParts,
  ovn: TestbedOvn | undefined,
): Pick<TestbedNode, 'openVSwitch' | 'ovnController'> {
  const { encapsulation = 'geneve' } = parts.record.current.shape;
  const southbound = ovn?.southbound.endpoint;
  const commands =
    southbound === undefined
      ? []
      : chassisCommands({ node: parts.node, southbound, encapsulation, datapath: chooseDatapath() });
  return {
    openVSwitch:
      programs.openVSwitch &&
      createTestbedSwitch({ ...parts, ip: programs.ip, programs: programs.openVSwitch, commands }),
    ovnController:
      programs.ovn === undefined || southbound === undefined
        ? undefined
        : createOvnController({ ...parts, programs: programs.ovn, southbound }),
  };
}

/**
 * Opens an existing testbed.
 * @throws PodwireError TESTBED_FAILED when it does not exist or is incomplete
 */
export async function openTestbed(name: string): Promise<Testbed> {
  await warmThreadPool();
  const paths = pathsOf(name);
  const current = readRecord(paths);
  if (current === undefined) throw new PodwireError('TESTBED_FAILED', `the testbed ${name} does not exist`);
  if (current.phase !== 'up')
    throw new PodwireError(
      'TESTBED_FAILED',
      `the testbed ${name} is not up: it is ${current.phase}, or was left so`,
      { action: '`podwire testbed status` shows its parts, `podwire testbed down` removes what is left.' },
    );
  const record = openRecord(paths, current);
  const topology = planTopology(current.shape);
  const open = (each: string): TestbedNamespace => openTestbedNamespace(paths.namespace(each));
  const parts = {
    ...{ record, topology, programs: findPrograms(current.shape) },
    fabric: open(fabricName),
    namespaces: new Map(topology.nodes.map((node) => [node.name, open(node.name)])),
  };
  return assembleTestbed(
    parts,
    current.pods.map((pod) => openPod(record, pod)),
  );
}

/** Name of the namespace that joins the nodes. */
export const fabricName = 'fabric';
