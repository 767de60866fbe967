/** How a testbed is at this moment. */
import { PodwireError } from '@podwire/errors';
import { openLocalApi } from '@podwire/local-api';
import { compact } from '@podwire/platform';
import {
  type DaemonState,
  pathsOf,
  type PodRecord,
  type Shape,
  type Testbed,
  type TestbedOvn,
  type TestbedSwitch,
} from '@podwire/testbed';
import type { StatusView } from '../api/shapes.js';
import type { CentralDaemon } from './daemon-names.js';

export interface NodeState {
  readonly name: string;
  /** Path of its network namespace. */
  readonly netns: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly agent: {
    readonly state: DaemonState;
    readonly pid?: number;
    /** Absent when it does not answer. */
    readonly ready?: boolean;
    readonly problem?: string;
    /** Bytes. */
    readonly memory?: number;
  };
  /** Where its Open vSwitch has its sockets, and how that is; only of the models sdn and ovn. */
  readonly ovsRunDir?: string;
  readonly openVSwitch?: Readonly<Record<'ovs-vswitchd' | 'ovsdb-server', DaemonState>>;
  /** Only of the model ovn. */
  readonly ovnController?: DaemonState;
  readonly blocks: readonly string[];
  readonly pods: number;
}

export interface PodState extends PodRecord {
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: NonNullable<PodRecord['ports']>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Path of its network namespace. */
  readonly netns: string;
}

/** Output of `podwire testbed status -o json`. */
export interface TestbedState {
  readonly name: string;
  readonly directory: string;
  readonly createdAt: number;
  readonly shape: Shape;
  /** `embedded` has no process. */
  readonly store: { readonly kind: string; readonly state: DaemonState };
  /** Endpoints of OVN's databases, `unix:PATH`, and how its central part is; only of the model ovn. */
  readonly northbound?: string;
  readonly southbound?: string;
  readonly ovn?: Readonly<Record<CentralDaemon, DaemonState>>;
  readonly nodes: readonly NodeState[];
  readonly pods: readonly PodState[];
}

export async function observeTestbed(testbed: Testbed): Promise<TestbedState> {
  const { name, directory, record, store } = testbed;
  return {
    ...{ name, directory, createdAt: record.createdAt, shape: record.shape },
    store: { kind: store.kind, state: store.kind === 'etcd' ? store.server.state() : 'running' },
    ...(testbed.ovn === undefined ? {} : observeOvn(testbed.ovn)),
    nodes: await Promise.all(testbed.nodes.map((node) => observeNode(testbed, node))),
    pods: record.pods.map((pod) => viewPod(testbed, pod)),
  };
}

const observeOvn = ({
  northbound,
  southbound,
  northd,
  controller,
}: TestbedOvn): Pick<TestbedState, 'northbound' | 'southbound' | 'ovn'> => ({
  ...{ northbound: northbound.endpoint, southbound: southbound.endpoint },
  ovn: {
    ...{ northbound: northbound.server.state(), southbound: southbound.server.state() },
    ...{ 'ovn-northd': northd.state(), controller: controller.state() },
  },
});

/** Without the handle of an open pod. */
export function viewPod({ name: testbed }: Pick<Testbed, 'name'>, pod: PodRecord): PodState {
  const { namespace, name, node, containerId, uid, addresses } = pod;
  const { labels = {}, ports = [], annotations = {} } = pod;
  const netns = pathsOf(testbed).podNamespace(namespace, name);
  const facts = { labels, ports, annotations, addresses, netns };
  return { namespace, name, node, containerId, ...compact({ uid }), ...facts };
}

async function observeNode(
  { record }: Testbed,
  { name, segment, addresses, agent, namespace, openVSwitch, ovnController }: Testbed['nodes'][number],
): Promise<NodeState> {
  const state = agent.state();
  const status = state === 'running' ? await askStatus(name, agent.apiSocket) : undefined;
  return {
    ...{ name, netns: namespace.path, subnet: segment.name, addresses: Object.values(addresses) as string[] },
    agent: {
      state,
      ...compact({ pid: agent.pid }),
      ...compact({ ready: status?.ready, memory: status?.memory.rss }),
      ...compact({ problem: status?.problem ?? undefined }),
    },
    ...(openVSwitch === undefined ? {} : observeSwitch(openVSwitch)),
    ...compact({ ovnController: ovnController?.state() }),
    blocks: (status?.networks ?? []).flatMap(({ blocks }) => blocks),
    pods: record.pods.filter(({ node }) => node === name).length,
  };
}

const observeSwitch = ({
  runDir,
  daemon,
  database,
}: TestbedSwitch): Pick<NodeState, 'ovsRunDir' | 'openVSwitch'> => ({
  ovsRunDir: runDir,
  openVSwitch: { 'ovs-vswitchd': daemon.state(), 'ovsdb-server': database.state() },
});

/** Milliseconds. */
const timeout = 2_000;

async function askStatus(node: string, socket: string): Promise<StatusView | undefined> {
  const peer = { name: `agent of ${node}`, unreachable: 'AGENT_UNREACHABLE' } as const;
  try {
    return await openLocalApi({ socket, peer, timeout }).get<StatusView>('/v1/status');
  } catch (error) {
    if (error instanceof PodwireError) return undefined;
    throw error;
  }
}

/** Everything runs and is ready. */
export const isWell = ({ store, ovn, nodes }: TestbedState): boolean =>
  [store.state, ...Object.values(ovn ?? {})].every(isRunning) && nodes.every(isNodeWell);

const isNodeWell = ({ agent, openVSwitch, ovnController = 'running' }: NodeState): boolean =>
  agent.ready === true && [agent.state, ovnController, ...Object.values(openVSwitch ?? {})].every(isRunning);

const isRunning = (state: DaemonState): boolean => state === 'running';
