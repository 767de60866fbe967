import path from 'node:path';
import type { Agent, PrivateHost } from '@podwire/testkit';
import { benchProgram, type Job, previousOutput, type Step } from './launcher.js';
import { processorTime } from './process-cost.js';

/** One pod to be attached: its namespace exists already. */
export interface PodSlot {
  /** Unique within the host; decides address and host port. */
  readonly index: number;
  readonly containerId: string;
  readonly netns: string;
}

/** Something that gives pods a network when it is started as a plugin. */
export interface Candidate {
  readonly name: CandidateName;
  readonly title: string;
  readonly host: PrivateHost;
  add(pod: PodSlot): Job;
  /** `result` is what ADD has printed. */
  delete(pod: PodSlot, result: string): Job;
  /** The pod's IPv4 address, for checking that it can be reached. */
  addressOf(pod: PodSlot, result: string): string | undefined;
  /** Milliseconds that a daemon behind the plugin has spent on processors so far. */
  processorTime?(): number;
  /** Runs after each round of DEL, outside the measured time. */
  settle?(): Promise<void>;
}

export type CandidateName =
  'empty' | 'floor' | 'ptp' | 'chain' | 'podwire' | 'podwire-chain' | 'member' | 'sdn' | 'ovn' | 'commands';

/** Makes pods' namespaces. They are made and deleted outside the measured time. */
export function addPods(host: PrivateHost, count: number): PodSlot[] {
  return Array.from({ length: count }, () => {
    const index = host.pods.length;
    return { index, containerId: `${host.name}-${index}`, netns: host.addPod().path };
  });
}

type PluginConfig = Readonly<Record<string, unknown>> & { readonly type: string };

const hostPortBase = 20_000;
/** bits per second and bits */
const rates = {
  ingressRate: 100_000_000,
  ingressBurst: 8_000_000,
  egressRate: 100_000_000,
  egressBurst: 8_000_000,
};

const dynamicConfig = (pod: PodSlot): Readonly<Record<string, unknown>> => ({
  portMappings: [{ hostPort: hostPortBase + pod.index, containerPort: 80, protocol: 'tcp' }],
  bandwidth: rates,
});

/** How a runtime calls a plugin (CNI 1.0 section 2). PATH is for plugins that start other programs. */
export function environmentOf(command: string, pod: PodSlot, binDir: string): Record<string, string> {
  return {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    CNI_COMMAND: command,
    CNI_CONTAINERID: pod.containerId,
    CNI_NETNS: pod.netns,
    CNI_IFNAME: 'eth0',
    CNI_PATH: binDir,
  };
}

/** The step as for a pod of Kubernetes, with one UID in all calls. */
export function asPod(step: Step, namespace: string, name: string): Step {
  const words = [`K8S_POD_NAMESPACE=${namespace}`, `K8S_POD_NAME=${name}`, `K8S_POD_UID=${name}`];
  return { ...step, environment: { ...step.environment, CNI_ARGS: words.join(';') } };
}

/** The same with all its pods in a namespace of Kubernetes. */
export function inNamespace(candidate: Candidate, namespace: string): Candidate {
  const within = (job: Job, { containerId }: PodSlot): Job =>
    job.map((step) => asPod(step, namespace, containerId));
  return {
    ...candidate,
    add: (pod) => within(candidate.add(pod), pod),
    delete: (pod, result) => within(candidate.delete(pod, result), pod),
  };
}

/** A network configuration list, driven as a runtime drives it: prevResult down the chain, DEL in reverse. */
export function listCandidate(options: {
  readonly name: CandidateName;
  readonly title: string;
  readonly host: PrivateHost;
  readonly binDir: string;
  readonly cniVersion: string;
  readonly plugins: readonly PluginConfig[];
  readonly dynamic: boolean;
}): Candidate {
  const { binDir, plugins, cniVersion } = options;
  const request = (plugin: PluginConfig, pod: PodSlot, last: string | undefined): string => {
    const runtimeConfig = options.dynamic ? { runtimeConfig: dynamicConfig(pod) } : {};
    const config = JSON.stringify({ cniVersion, name: 'bench', ...plugin, ...runtimeConfig });
    return last === undefined ? config : `${config.slice(0, -1)},"prevResult":${last}}`;
  };
  const step = (command: string, plugin: PluginConfig, pod: PodSlot, last: string | undefined): Step => ({
    program: path.join(binDir, plugin.type),
    environment: environmentOf(command, pod, binDir),
    input: request(plugin, pod, last),
  });
  return {
    name: options.name,
    title: options.title,
    host: options.host,
    add: (pod) =>
      plugins.map((plugin, index) => step('ADD', plugin, pod, index === 0 ? undefined : previousOutput)),
    delete: (pod, result) => plugins.map((plugin) => step('DEL', plugin, pod, result)).reverse(),
    addressOf: (_, result) => firstIpv4(result),
  };
}

/** Of what ADD has printed. */
export function firstIpv4(result: string): string | undefined {
  const { ips = [] } = JSON.parse(result) as { ips?: readonly { address: string }[] };
  return ips.map(({ address }) => address.split('/')[0]).find((address) => address?.includes('.'));
}

/** Debian's `ptp` with `host-local`, and perhaps `portmap` and `bandwidth` behind it. */
export function debianCandidate(host: PrivateHost, chained: boolean, binDir: string): Candidate {
  const ptp: PluginConfig = {
    type: 'ptp',
    ipam: {
      type: 'host-local',
      dataDir: path.join(host.directory, 'host-local'),
      ranges: [[{ subnet: '10.60.0.0/16' }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  };
  return listCandidate({
    name: chained ? 'chain' : 'ptp',
    title: chained ? 'ptp + host-local + portmap + bandwidth' : 'ptp + host-local',
    host,
    binDir,
    cniVersion: '1.0.0',
    plugins: chained ? [ptp, { type: 'portmap' }, { type: 'bandwidth' }] : [ptp],
    dynamic: chained,
  });
}

/** Podwire by its plugin executable; with host port and both rates when `chained`. */
export function podwireCandidate(
  host: PrivateHost,
  chained: boolean,
  binDir: string,
  agent: Agent,
): Candidate {
  const candidate = listCandidate({
    name: chained ? 'podwire-chain' : 'podwire',
    title: chained ? 'podwire with host port and rates' : 'podwire',
    host,
    binDir,
    cniVersion: '1.0.0',
    plugins: [{ type: 'podwire-cni', socket: agent.socket, network: 'default' }],
    dynamic: chained,
  });
  return { ...candidate, processorTime: () => processorTime(agent.pid) };
}

/** A static program that does nothing. */
export function emptyCandidate(host: PrivateHost): Candidate {
  const job: Job = [{ program: benchProgram('empty'), environment: {}, input: '' }];
  return {
    name: 'empty',
    title: 'an empty static program',
    host,
    add: () => job,
    delete: () => job,
    addressOf: () => undefined,
  };
}

/** A static program that sends the bare netlink sequence. */
export function floorCandidate(host: PrivateHost): Candidate {
  const addressOf = (pod: PodSlot): string => `10.61.${pod.index >> 8}.${pod.index & 255}`;
  const job = (command: string, pod: PodSlot): Job => [
    {
      program: benchProgram('floor'),
      environment: {
        CNI_COMMAND: command,
        CNI_NETNS: pod.netns,
        FLOOR_LINK: `floor${pod.index}`,
        FLOOR_ADDRESS: addressOf(pod),
      },
      input: '',
    },
  ];
  return {
    name: 'floor',
    title: 'a static program with the bare netlink sequence',
    host,
    add: (pod) => job('ADD', pod),
    delete: (pod) => job('DEL', pod),
    addressOf,
    settle: async () => {
      await host.run(['ip', 'link', 'delete', 'group', '4242']);
    },
  };
}
