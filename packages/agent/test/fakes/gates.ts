/** A node whose questions to the cluster wait until a test lets them go on. */
import { createNodeAddressing, type NodeAddressing } from '@podwire/cluster-ipam';
import { expect } from 'vitest';
import { createTestCluster, type NodeOptions, type TestCluster, type TestNode } from './cluster.js';
import { keyOf, type TestAnswer, type TestCall } from './harness.js';

export interface Gate {
  /** Calls that wait there. */
  waiting: number;
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { waiting: 0, opened, open: () => open() };
}

/** Gates in front of the cluster: a call waits at its gate, or goes past when there is no gate. */
export interface Gates {
  provide?: Gate | undefined;
  addressesFor?: Gate | undefined;
}

/** Waits at the gate as for a store that hangs, then does what was asked. */
async function pass(gate: Gate | undefined, signal: AbortSignal): Promise<void> {
  if (gate === undefined) return;
  gate.waiting++;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    await Promise.race([gate.opened, aborted]);
  } finally {
    gate.waiting--;
  }
}

export function createGatedCluster(gates: Gates, change: Partial<NodeAddressing> = {}): TestCluster {
  return createTestCluster((options) => {
    const inner = createNodeAddressing(options);
    const provide = inner.provide.bind(inner);
    const addressesFor = inner.addressesFor.bind(inner);
    const gated: Partial<NodeAddressing> = {
      async provide(need, signal) {
        await pass(gates.provide, signal);
        await provide(need, signal);
      },
      async addressesFor(network, pod, families, signal) {
        const given = await addressesFor(network, pod, families, signal);
        await pass(gates.addressesFor, signal);
        return given;
      },
      ...change,
    };
    return Object.assign(inner, gated);
  });
}

export const podArgs = (name: string): string => `IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=${name}`;
export const call = (node: TestNode, command: string, id: string, more: TestCall = {}): Promise<TestAnswer> =>
  node.call(command, { id, args: podArgs(id), ...more });
export async function startNode(
  gates: Gates,
  change?: Partial<NodeAddressing>,
  options?: NodeOptions,
): Promise<TestNode> {
  const cluster = createGatedCluster(gates, change);
  await cluster.putPool({ name: 'p', cidr: '10.9.0.0/24', blockSize: 28 });
  const node = cluster.node('n1', options);
  await node.start();
  await call(node, 'ADD', 'first');
  return node;
}

export function expectNothingOf(node: TestNode, id: string): void {
  const key = keyOf(id);
  expect(node.context.endpoints.get(key)).toBeUndefined();
  expect(node.records.records.has(key)).toBe(false);
  expect(node.engine.of(`endpoint:${key}`)).toEqual([]);
  expect(node.context.networks.flatMap(({ ipam }) => ipam.leases()).map(({ owner }) => owner)).not.toContain(
    key,
  );
  expect(node.engine.violations).toEqual([]);
}
