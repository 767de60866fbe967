/** Labels of pods that change while the pods run: a runtime tells them with one more ADD. */
import type { Cluster, Labels } from '@podwire/policy-evaluator';
import type { Testbed, TestbedPod } from '@podwire/testbed';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PodLabels {
  /** Gives the pods of the testbed the labels that they have there; resolves when every node knows them. */
  follow(wanted: Cluster): Promise<void>;
}

export function openPodLabels(testbed: Testbed): PodLabels {
  const known = new Map(testbed.pods.map((pod) => [nameOf(pod), pod.labels ?? {}]));
  return {
    async follow({ pods }) {
      for (const { namespace, name, labels } of pods) {
        const pod = testbed.pods.find((each) => each.namespace === namespace && each.name === name);
        if (pod === undefined || isSame(known.get(nameOf(pod)), labels)) continue;
        await relabelPod(testbed, pod, labels);
        for (const node of testbed.nodes) await untilKnown(testbed, node.name, pod, labels);
        known.set(nameOf(pod), labels);
      }
    },
  };
}

const nameOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

const isSame = (one: Labels = {}, other: Labels): boolean =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

/** The same attachment once more. @throws CniError */
export async function relabelPod(testbed: Testbed, pod: TestbedPod, labels: Labels): Promise<void> {
  const { runtime, networkFor } = testbed.node(pod.node).pods;
  const { containerId, namespace, name, network } = pod;
  const args = { IgnoreUnknown: '1', K8S_POD_NAMESPACE: namespace, K8S_POD_NAME: name };
  await runtime.add(networkFor({ ...pod, labels }), {
    containerId,
    netns: network.path,
    interfaceName: 'eth0',
    args: Object.entries({ ...args, K8S_POD_INFRA_CONTAINER_ID: containerId }),
  });
}

/** Milliseconds. */
const patience = 10_000;
const pause = 5;

interface Known {
  readonly labels: { readonly from?: Labels };
}

/** Until the node has them, and everything that it knows is in force. */
async function untilKnown(testbed: Testbed, node: string, pod: TestbedPod, labels: Labels): Promise<void> {
  const { api } = testbed.node(node).agent;
  const end = performance.now() + patience;
  const question = { from: `pod/${nameOf(pod)}`, to: `node/${node}`, protocol: 'tcp', port: 80 };
  for (;;) {
    const { labels: known } = await api.post<Known>('/v1/policy/explain', question);
    const { inForce } = await api.get<{ inForce: boolean }>('/v1/policy');
    if (inForce && isSame(known.from, labels)) return;
    if (performance.now() > end) throw new Error(`${node} does not know the labels of ${nameOf(pod)}`);
    await sleep(pause);
  }
}
