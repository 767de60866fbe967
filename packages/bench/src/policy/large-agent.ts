/** An agent that knows thousands of pods of other nodes and hundreds of policies: what it keeps in memory, and how soon it is there. */
import type { Programs, StepCall } from '../call.js';
import { startMembers } from '../cluster/members.js';
import { residentBytes } from '../process-cost.js';
import { untilKnown } from './add.js';
import { addWebPods } from './measured-pod.js';
import { fillStore, homeNamespace } from './pod-cluster.js';

export interface LargeAgentOptions extends Programs, StepCall {
  readonly knownPods: number;
  /** All of them select the node's pods. */
  readonly policies: number;
  readonly podsOnNode: number;
}

export interface LargeAgentFigures {
  readonly knownPods: number;
  readonly policies: number;
  /** Bytes, with everything in force; as it came little by little, and after a restart. */
  readonly resident: { readonly grown: number; readonly restarted: number };
  /** Milliseconds from the start of the process until all of it is in force. */
  readonly restart: number;
}

const pool = { name: 'all', cidr: '10.62.0.0/16', blockSize: 24 };

export async function measureLargeAgent(options: LargeAgentOptions): Promise<LargeAgentFigures> {
  const { agent, binDir, knownPods, policies, podsOnNode, signal, progress } = options;
  const cluster = await startMembers({ name: 'large', nodes: 1, agent, pools: [pool] });
  const step = (done: number): void => progress('an agent with many pods and policies', done, 3);
  try {
    step(0);
    const member = cluster.members[0]!;
    const content = { pods: knownPods, policies, namespaces: [homeNamespace] };
    await fillStore(member.host, cluster.etcd.spec.endpoints, content, signal);
    const wanted = { pods: knownPods + podsOnNode, objects: policies };
    await addWebPods(member, { binDir, count: podsOnNode, namespace: homeNamespace, signal });
    step(1);
    await untilKnown(member.agent.apiSocket, wanted, signal);
    const grown = residentBytes(member.agent.pid);
    step(2);
    await member.agent.kill9();
    const begin = performance.now();
    await member.agent.start();
    await untilKnown(member.agent.apiSocket, wanted, signal);
    const restart = performance.now() - begin;
    const restarted = residentBytes(member.agent.pid);
    step(3);
    return { knownPods, policies, resident: { grown, restarted }, restart };
  } finally {
    await cluster.close();
  }
}
