/** Pods: namespaces, as a container runtime creates them, attached by the real plugin. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  type AttachmentParameters,
  convertResult,
  createProcessExec,
  createRuntime,
  type NetworkConfig,
  parseNetwork,
  type Runtime,
} from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import {
  dropNamespace,
  makeNamespace,
  openTestbedNamespace,
  type TestbedNamespace,
} from '../net/namespaces.js';
import type { NodePaths } from '../paths.js';
import { checkPodName, type PodPort } from '../pod-spec.js';
import type { OpenRecord, PodRecord, TestbedRecord } from '../record.js';
import { networkName, withoutLength } from '../shape.js';

/** Parameters of a new pod. */
export interface PodRequest {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly name: string;
  /** None when absent; policy selects the pod by them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports?: readonly PodPort[];
  /** Handed on as the capability that containerd and CRI-O have for them. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further `CNI_ARGS`. */
  readonly args?: Readonly<Record<string, string>>;
  /** Capability arguments (`ips`, `portMappings`, `bandwidth`). */
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

export interface TestbedPod extends PodRecord {
  readonly network: TestbedNamespace;
}

/** The container runtime of one node. */
export interface PodRuntime {
  readonly runtime: Runtime;
  /** Of a pod, with what its request says about it. */
  readonly networkFor: (pod: PodRecord) => NetworkConfig;
}

export function createPodRuntime(node: TestbedNamespace, paths: NodePaths, plugins: string): PodRuntime {
  const exec = createProcessExec({ around: (start) => node.inside(start) });
  const runtime = createRuntime({
    pluginPath: [plugins],
    cacheDir: paths.cniCache,
    durable: false,
    exec,
    timeoutMs: attachDeadline,
  });
  const capabilities = {
    ...{ portMappings: true, bandwidth: true, ips: true, mac: true },
    [annotationsCapability]: true,
  };
  const plugin = { type: 'podwire-cni', socket: paths.socket, capabilities };
  const networkFor = (pod: PodRecord): NetworkConfig => {
    const plugins = [{ ...plugin, args: argumentsOf(pod) }];
    return parseNetwork(JSON.stringify({ cniVersion: '1.0.0', name: networkName, plugins }));
  };
  return { runtime, networkFor };
}

const annotationsCapability = 'io.kubernetes.cri.pod-annotations';

/** Labels as the conventions of CNI have them; an empty list says that there are none, which is known then. */
const argumentsOf = ({ labels = {}, ports = [] }: PodRecord) => ({
  cni: { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) },
  'podwire.io': { ports },
});

/** Milliseconds. */
const attachDeadline = 30_000;

/**
 * Creates a pod; the record names it before it exists.
 * @throws PodwireError TESTBED_FAILED with the plugin's error; the pod is removed then
 */
export async function addPod(
  record: OpenRecord,
  node: string,
  { runtime, networkFor }: PodRuntime,
  { namespace = 'default', name, labels = {}, ports = [], annotations = {}, ...more }: PodRequest,
  signal?: AbortSignal,
): Promise<TestbedPod> {
  signal?.throwIfAborted();
  checkPodName({ namespace, name });
  const file = record.paths.podNamespace(namespace, name);
  const pod: PodRecord = {
    namespace,
    name,
    node,
    containerId: randomBytes(32).toString('hex'),
    uid: randomUUID(),
    labels,
    ports,
    annotations,
    addresses: [],
  };
  record.update((before) => ({ pods: withPod(before, pod) }));
  const network = networkFor(pod);
  const inside = makeNamespace(record, file);
  const attachment = attachmentOf(pod, file, more);
  try {
    const result = await runtime.add(network, attachment, compact({ signal }));
    const { ips = [] } = convertResult(result, '1.0.0');
    const addresses = ips.map(({ address }) => withoutLength(address));
    const done = { ...pod, addresses };
    record.update(({ pods }) => ({
      pods: pods.map((each) => (each.containerId === pod.containerId ? done : each)),
    }));
    return { ...done, network: inside };
  } catch (error) {
    // The failure of ADD is what is reported.
    await runtime.del(network, attachment).catch(() => undefined);
    forget(record, { ...pod, network: inside });
    signal?.throwIfAborted();
    throw new PodwireError('TESTBED_FAILED', `pod ${namespace}/${name} on ${node}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

function withPod({ name: testbed, pods }: TestbedRecord, pod: PodRecord): readonly PodRecord[] {
  const { namespace, name } = pod;
  if (pods.some((each) => each.namespace === namespace && each.name === name))
    throw new PodwireError('TESTBED_FAILED', `the pod ${namespace}/${name} already exists`, {
      action: `podwire testbed pod delete ${namespace}/${name} --testbed ${testbed}`,
    });
  if (pods.length >= mostPods)
    throw new PodwireError('TESTBED_FAILED', `a testbed has at most ${mostPods} pods`, { action: null });
  return [...pods, pod];
}

/** Nodes times pods of the largest shape. */
const mostPods = 20_000;

function forget(record: OpenRecord, { network, namespace, name }: TestbedPod): void {
  network.release();
  dropNamespace(record, network.path);
  record.update(({ pods }) => ({
    pods: pods.filter((each) => !(each.namespace === namespace && each.name === name)),
  }));
}

function attachmentOf(
  { namespace, name, containerId, uid, annotations = {} }: PodRecord,
  netns: string,
  { args = {}, capabilities = {} }: Pick<PodRequest, 'args' | 'capabilities'> = {},
): AttachmentParameters {
  const own = Object.keys(annotations).length === 0 ? {} : { [annotationsCapability]: annotations };
  return {
    ...{ containerId, netns, interfaceName: 'eth0', capabilityArgs: { ...own, ...capabilities } },
    args: Object.entries({
      IgnoreUnknown: '1',
      K8S_POD_NAMESPACE: namespace,
      K8S_POD_NAME: name,
      K8S_POD_INFRA_CONTAINER_ID: containerId,
      ...compact({ K8S_POD_UID: uid }),
      ...args,
    }),
  };
}

/** @throws CniError of DEL; the pod stays then */
export async function removePod(
  record: OpenRecord,
  pod: TestbedPod,
  { runtime, networkFor }: PodRuntime,
): Promise<void> {
  await runtime.del(networkFor(pod), attachmentOf(pod, pod.network.path));
  forget(record, pod);
}

/** Opens an existing pod. */
export function openPod(record: OpenRecord, pod: PodRecord): TestbedPod {
  return { ...pod, network: openTestbedNamespace(record.paths.podNamespace(pod.namespace, pod.name)) };
}
