/** Pods: namespaces, as a container runtime creates them, attached by the real plugin. */
import { randomBytes } from 'node:crypto';
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
import type { OpenRecord, PodRecord } from '../record.js';
import { networkName, withoutLength } from '../shape.js';

/** Parameters of a new pod. */
export interface PodRequest {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly name: string;
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
  readonly network: NetworkConfig;
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
  const capabilities = { portMappings: true, bandwidth: true, ips: true, mac: true };
  const plugin = { type: 'podwire-cni', socket: paths.socket, capabilities };
  const document = { cniVersion: '1.0.0', name: networkName, plugins: [plugin] };
  return { runtime, network: parseNetwork(JSON.stringify(document)) };
}

/** Milliseconds. */
const attachDeadline = 30_000;

/**
 * Creates a pod; the record names it before it exists.
 * @throws PodwireError TESTBED_FAILED with the plugin's error; the pod is removed then
 */
export async function addPod(
  record: OpenRecord,
  node: string,
  { runtime, network }: PodRuntime,
  { namespace = 'default', name, args = {}, capabilities }: PodRequest,
  signal?: AbortSignal,
): Promise<TestbedPod> {
  signal?.throwIfAborted();
  if (record.current.pods.some((pod) => pod.namespace === namespace && pod.name === name))
    throw new PodwireError('TESTBED_FAILED', `the pod ${namespace}/${name} already exists`);
  const file = record.paths.podNamespace(namespace, name);
  const pod: PodRecord = {
    namespace,
    name,
    node,
    containerId: randomBytes(32).toString('hex'),
    addresses: [],
  };
  record.update(({ pods }) => ({ pods: [...pods, pod] }));
  const inside = makeNamespace(record, file);
  const attachment = {
    ...attachmentOf(pod, file, args),
    ...compact({ capabilityArgs: capabilities }),
  };
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
    await undo(record, { ...pod, network: inside }, { runtime, network }, attachment);
    signal?.throwIfAborted();
    throw new PodwireError('TESTBED_FAILED', `pod ${namespace}/${name} on ${node}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Errors are ignored: the failure of ADD is reported. */
async function undo(
  record: OpenRecord,
  pod: TestbedPod,
  { runtime, network }: PodRuntime,
  attachment: AttachmentParameters,
): Promise<void> {
  await runtime.del(network, attachment).catch(() => undefined);
  forget(record, pod);
}

function forget(record: OpenRecord, { network, namespace, name }: TestbedPod): void {
  network.release();
  dropNamespace(record, network.path);
  record.update(({ pods }) => ({
    pods: pods.filter((each) => !(each.namespace === namespace && each.name === name)),
  }));
}

const attachmentOf = (
  { namespace, name, containerId }: PodRecord,
  netns: string,
  more: Readonly<Record<string, string>> = {},
): AttachmentParameters => ({
  containerId,
  netns,
  interfaceName: 'eth0',
  args: Object.entries({
    IgnoreUnknown: '1',
    K8S_POD_NAMESPACE: namespace,
    K8S_POD_NAME: name,
    K8S_POD_INFRA_CONTAINER_ID: containerId,
    ...more,
  }),
});

/** @throws CniError of DEL; the pod stays then */
export async function removePod(
  record: OpenRecord,
  pod: TestbedPod,
  { runtime, network }: PodRuntime,
): Promise<void> {
  await runtime.del(network, attachmentOf(pod, pod.network.path));
  forget(record, pod);
}

/** Opens an existing pod. */
export function openPod(record: OpenRecord, pod: PodRecord): TestbedPod {
  return { ...pod, network: openTestbedNamespace(record.paths.podNamespace(pod.namespace, pod.name)) };
}
