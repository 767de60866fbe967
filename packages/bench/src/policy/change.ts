/**
 * From a policy that is written to the moment when the last node has said that it is in force: real agents with pods, a real etcd, and a
 * client as `podwire apply --wait` is one.
 */
import { keysBelow, type PolicyStatus, policyStatusKind } from '@podwire/cluster-state';
import { createStoreSource } from '@podwire/objects';
import { Notify, systemClock } from '@podwire/platform';
import { decodeObject, type Item, type Store } from '@podwire/store';
import type { Programs, StepCall } from '../call.js';
import { type Members, startMembers } from '../cluster/members.js';
import { summarize, type Summary } from '../statistics.js';
import { untilKnown } from './add.js';
import { addWebPods } from './measured-pod.js';
import { allowGroup, fillStore, homeNamespace, openEtcd, root } from './pod-cluster.js';

export interface PolicyChangeOptions extends Programs, StepCall {
  readonly nodes: number;
  /** In the whole cluster: those of other nodes are objects in the store. */
  readonly pods: number;
  /** Of each node, with a link; all policies select them. */
  readonly podsPerNode: number;
  readonly policies: number;
  readonly changes: number;
}

/** Milliseconds. */
export interface PolicyChanges {
  readonly nodes: number;
  readonly pods: number;
  /** Until the store has taken the object. */
  readonly written: Summary;
  /** From then until every node has said that it is in force; what they say travels through the store too. */
  readonly inForce: Summary;
}

/** Large enough that no block is claimed meanwhile. */
const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 24 };
const patience = 300_000;

export async function measurePolicyChanges(options: PolicyChangeOptions): Promise<PolicyChanges> {
  const { agent, nodes, pods, changes, signal, progress } = options;
  const cluster = await startMembers({ name: 'change', nodes, agent, pools: [pool] });
  try {
    progress('a policy changes: pods and policies', 0, 2);
    await prepare(cluster, options);
    progress('a policy changes', 1, 2);
    const names = cluster.members.map((_, index) => `n${index + 1}`);
    const job = { endpoints: cluster.etcd.spec.endpoints, names, changes };
    const program = [process.execPath, import.meta.filename, JSON.stringify(job)];
    const output = await cluster.members[0]!.host.run(program, { timeout: patience, signal });
    const rounds = JSON.parse(output) as Round[];
    return {
      ...{ nodes, pods },
      written: summarize(rounds.map(({ written }) => written)),
      inForce: summarize(rounds.map(({ inForce }) => inForce)),
    };
  } finally {
    await cluster.close();
  }
}

async function prepare({ members, etcd }: Members, options: PolicyChangeOptions): Promise<void> {
  const { binDir, pods, podsPerNode, policies, signal } = options;
  const local = members.length * podsPerNode;
  const content = { pods: pods - local, policies, namespaces: [homeNamespace] };
  await fillStore(members[0]!.host, etcd.spec.endpoints, content, signal);
  const webPods = { binDir, count: podsPerNode, namespace: homeNamespace, signal };
  for (const member of members) await addWebPods(member, webPods);
  for (const { agent } of members) await untilKnown(agent.apiSocket, { pods, objects: policies }, signal);
}

interface Round {
  readonly written: number;
  readonly inForce: number;
}

interface Job {
  readonly endpoints: readonly string[];
  readonly names: readonly string[];
  readonly changes: number;
}

/** Rounds whose figures do not count. */
const warmUp = 10;
const roundDeadline = 30_000;

/** In a process of its own, inside the machine's namespace. */
async function changeAndWait({ endpoints, names, changes }: Job): Promise<Round[]> {
  const store = await openEtcd(endpoints);
  const source = createStoreSource({ store, root, clock: systemClock });
  const stop = new AbortController();
  const statuses = followStatuses(store, stop.signal);
  const rounds: Round[] = [];
  for (let round = -warmUp; round < changes; round++) {
    const group = (round + warmUp) % 20;
    const policy = allowGroup({
      namespace: homeNamespace,
      name: 'changing',
      port: 9_000 + (round & 1),
      group,
    });
    const begin = performance.now();
    const { revision } = await source.save(policy, undefined);
    const written = performance.now();
    await statuses.until(names, revision, AbortSignal.timeout(roundDeadline));
    if (round >= 0) rounds.push({ written: written - begin, inForce: performance.now() - written });
  }
  stop.abort();
  await store.close();
  return rounds;
}

interface Statuses {
  /** Resolves when all of them have it in force. */
  until(names: readonly string[], revision: number, signal: AbortSignal): Promise<void>;
}

function followStatuses(store: Store, signal: AbortSignal): Statuses {
  const prefix = keysBelow(root).policyStatus('');
  const known = new Map<string, PolicyStatus>();
  const change = new Notify();
  const put = ({ key, value }: Item): void =>
    void known.set(key.slice(prefix.length), decodeObject(policyStatusKind, key, value));
  const follow = async (): Promise<void> => {
    for await (const batch of store.watch(prefix, { signal })) {
      for (const item of batch.type === 'snapshot' ? batch.items : []) put(item);
      for (const each of batch.type === 'changes' ? batch.changes : [])
        if (each.type === 'put') put(each.item);
      change.notify();
    }
  };
  follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    async until(names, revision, limit) {
      const isBehind = (name: string): boolean => (known.get(name)?.revision ?? -1) < revision;
      while (names.some(isBehind)) await change.notified(limit);
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const rounds = await changeAndWait(JSON.parse(process.argv[2] ?? '{}') as Job);
  process.stdout.write(JSON.stringify(rounds));
}
