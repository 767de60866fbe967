/** The cluster of the truth table: nine pods in three namespaces on two nodes, real ones, and as the second evaluator knows them. */
import {
  type AnyObject,
  createStoreSource,
  kinds,
  type ObjectSource,
  referenceKey,
  referenceOf,
} from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import type { Cluster } from '@podwire/policy-evaluator';
import { standardCluster } from '@podwire/policy-evaluator/cases';
import type { Testbed } from '@podwire/testbed';
import { setTimeout as sleep } from 'node:timers/promises';

/** The answer of `GET /v1/policy`, as far as it is needed. */
interface PolicyState {
  readonly inForce: boolean;
  readonly revision: number | null;
  readonly problems: readonly { readonly object: string; readonly message: string }[];
}

/** Attaches the pods of the standard cluster. @returns it with the addresses that they have got */
export async function addStandardPods(testbed: Testbed): Promise<Cluster> {
  const standard = standardCluster();
  const pods: Cluster['pods'][number][] = [];
  for (const pod of standard.pods) {
    const { namespace, name, node, labels, ports } = pod;
    const { addresses } = await testbed.addPod(node, { namespace, name, labels, ports });
    pods.push({ ...pod, addresses });
  }
  const nodes = testbed.nodes.map(({ name, addresses }, index) => ({
    name,
    labels: standard.nodes[index]?.labels ?? {},
    addresses: (Object.values(addresses) as string[]).map((each) => each.replace(/\/.*/, '')),
  }));
  return { ...standard, pods, nodes };
}

export interface AppliedPolicies {
  /** Saves what is wanted, deletes what is not any more, and waits until every node but those without an agent has it in force. */
  replace(objects: readonly AnyObject[], dead?: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds; an agent may have been killed on the way. */
const inForceDeadline = 30_000;
const pause = 5;

export async function openPolicies(testbed: Testbed): Promise<AppliedPolicies> {
  const store = await testbed.store.open();
  const source = createStoreSource({ store, root: '/podwire', clock: systemClock });
  let standing = new Map<string, AnyObject>();
  return {
    async replace(objects, dead = []) {
      const wanted = new Map(objects.map((each) => [referenceKey(referenceOf(each)), withDefaults(each)]));
      const revision = await change(source, standing, wanted);
      standing = wanted;
      const nodes = testbed.nodes.map(({ name }) => name).filter((name) => !dead.includes(name));
      await Promise.all(nodes.map((name) => untilInForce(testbed, name, revision)));
    },
    close: () => store.close(),
  };
}

/** As `apply` reads it. */
function withDefaults(object: AnyObject): AnyObject {
  const kind = kinds.find((each) => each.apiVersion === object.apiVersion && each.kind === object.kind);
  if (kind === undefined) throw new Error(`there is no kind ${object.kind}`);
  return kind.schema.parse(object);
}

/** New ones come before old ones go. @returns the last revision */
async function change(
  source: ObjectSource,
  before: ReadonlyMap<string, AnyObject>,
  after: ReadonlyMap<string, AnyObject>,
): Promise<number> {
  let last = 0;
  for (const object of after.values()) last = Math.max(last, (await source.save(object, undefined)).revision);
  for (const [key, object] of before)
    if (!after.has(key)) last = Math.max(last, (await source.delete(referenceOf(object))).revision);
  return last;
}

/** Random host endpoints have addresses that no node has; it changes nothing between pods. */
const isOfNodesAlone = (message: string): boolean =>
  message.startsWith('no link of this node has one of its addresses');

async function untilInForce(testbed: Testbed, node: string, revision: number): Promise<void> {
  const end = performance.now() + inForceDeadline;
  for (;;) {
    const state = await testbed
      .node(node)
      .agent.api.get<PolicyState>('/v1/policy')
      .catch(() => undefined);
    if (state?.inForce === true && (state.revision ?? -1) >= revision) {
      const problems = state.problems.filter(({ message }) => !isOfNodesAlone(message));
      if (problems.length > 0) throw new Error(`${node}: ${JSON.stringify(problems)}`);
      return;
    }
    if (performance.now() > end)
      throw new Error(`${node} has not ${revision} in force: ${JSON.stringify(state)}`);
    await sleep(pause);
  }
}
