/** Sources of the dashboard: this node, or all nodes of a testbed; and a store, where one is named. */
import os from 'node:os';
import type { DashboardSources, NodeSource, Wording } from '@podwire/dashboard';
import { openLocalApi } from '@podwire/local-api';
import { formatProblem } from '@podwire/podlet';
import type { Store } from '@podwire/store';
import type { Command } from 'commander';
import { locateAgent, openAgentApi } from '../api/locate.js';
import { type ClusterPlace, locateCluster } from '../cluster/options.js';
import type { Io } from '../io.js';
import { locateDirectory, openPodApi, placesIn } from '../pods/locate.js';
import { describeState, evaluatePod } from '../pods/readiness.js';
import { readSpans } from '../pods/trace.js';
import { resourceWords } from '../render/resource-words.js';
import { besideSocket, readReport } from '../testbed/last-report.js';

export interface OpenSources {
  readonly sources: DashboardSources;
  close(): Promise<void>;
}

/** Milliseconds for one question: a page must not wait long for a node that hangs. */
const timeout = 3_000;

const wording: Wording = {
  describePod: (pod) => {
    const { state, why } = evaluatePod(pod);
    const level = state === 'ready' || state === 'succeeded' ? 'good' : state === 'failed' ? 'bad' : 'busy';
    return { level, state: describeState(pod), reason: why };
  },
  describeProblem: formatProblem,
  describeResource: resourceWords.describe,
  placeOf: resourceWords.placeOf,
};

const common = {
  wording,
  readSpans: (node, pod, traces) => readSpans(node.pods!, pod, traces),
} satisfies Partial<DashboardSources>;

export async function openNodeSources(command: Command, io: Io): Promise<OpenSources> {
  const name = os.hostname();
  const agent = openAgentApi({ socket: await locateAgent(command, io), timeout });
  const pods = openPodApi(placesIn(locateDirectory(command, io)).podSocket, { timeout });
  const place = await locateCluster(command, io);
  const cluster = place === undefined ? undefined : openCluster(() => openPlace(place, io), place.root);
  const sources: DashboardSources = {
    ...common,
    title: `node ${name}`,
    nodes: [{ name, agent, pods }],
    readReport: () => readReport(besideSocket(agent.socket)),
    ...(cluster && { readCluster: cluster.read }),
  };
  return { sources, close: async () => cluster?.close() };
}

export async function openTestbedSources(name: string): Promise<OpenSources> {
  const { openTestbed, pathsOf } = await import('@podwire/testbed');
  const testbed = await openTestbed(name);
  const cluster = openCluster(() => testbed.store.open(), '/podwire');
  const nodes = testbed.nodes.map((node): NodeSource => {
    const peer = { name: `agent of ${node.name}`, unreachable: 'AGENT_UNREACHABLE' } as const;
    return { name: node.name, agent: openLocalApi({ socket: node.agent.apiSocket, peer, timeout }) };
  });
  const sources: DashboardSources = {
    ...common,
    title: `testbed ${name}`,
    nodes,
    readCluster: cluster.read,
    readReport: () => readReport(pathsOf(name).connectivity),
  };
  const close = async (): Promise<void> => {
    await cluster.close();
    await testbed.release();
  };
  return { sources, close };
}

/** A connection that is opened with the first question and kept; opened anew after a failure. */
function openCluster(open: () => Promise<Store>, root: string) {
  let store: Promise<Store> | undefined;
  const close = async (): Promise<void> => {
    const closing = store;
    store = undefined;
    await closing?.then((each) => each.close()).catch(() => undefined);
  };
  const read: NonNullable<DashboardSources['readCluster']> = async (signal) => {
    const [{ readCluster, showCluster, showNodes }, { keysBelow }, { systemClock }] = await Promise.all([
      import('@podwire/cluster-ipam/operations'),
      import('@podwire/cluster-state'),
      import('@podwire/platform'),
    ]);
    try {
      const access = { store: await (store ??= open()), keys: keysBelow(root), clock: systemClock };
      const snapshot = await readCluster(access, signal);
      return { nodes: showNodes(snapshot), shown: showCluster(snapshot) };
    } catch (error) {
      await close();
      throw error;
    }
  };
  return { read, close };
}

async function openPlace({ spec }: ClusterPlace, io: Io): Promise<Store> {
  const [{ openStore }, { silentLog, systemClock }] = await Promise.all([
    import('@podwire/store'),
    import('@podwire/platform'),
  ]);
  const clock = io.cluster?.clock ?? systemClock;
  return (io.cluster?.openStore ?? openStore)(spec, { log: silentLog, clock, create: false });
}
