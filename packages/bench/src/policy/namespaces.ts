/**
 * Two namespaces of which each lets in only pods of the other one, and lets its pods out only to them: pods times pods flows in both
 * directions. Beside it the same flows as a rule each.
 */
import type { LinkChange } from '@podwire/network-policy';
import type { InputChange } from '@podwire/policy';
import { createPrivateHost } from '@podwire/testkit';
import { summarize, type Summary } from '../statistics.js';
import { label, podInput } from './inputs.js';
import { KernelPath, node } from './kernel-path.js';

export interface NamespacesOptions {
  /** Of each namespace. */
  readonly pods: number;
  /** Of each namespace, on the node that is measured; a kubelet takes 110 altogether. */
  readonly podsOnNode: number;
  readonly rounds: number;
}

/** Contents of the table besides its frame, as nft would list them. */
export interface TableSize {
  readonly elements: number;
  readonly rules: number;
}

export interface NamespacesFigures {
  readonly flows: number;
  readonly podsOnNode: number;
  /** Milliseconds from both policies to the kernel's answer. */
  readonly wall: Summary;
  readonly exchange: Summary;
  readonly size: TableSize;
  /** Of them those that links of pods have without any policy, too. */
  readonly ofLinks: number;
  /** Milliseconds of iptables-restore for a rule for each flow; one direction. */
  readonly iptables: number;
}

const patience = 120_000;

export async function measureNamespaces(
  options: NamespacesOptions,
  signal: AbortSignal,
): Promise<NamespacesFigures> {
  const host = await createPrivateHost({ name: 'namespaces' });
  try {
    const program = [process.execPath, import.meta.filename, JSON.stringify(options)];
    const output = await host.run(program, { timeout: patience, signal });
    const begin = performance.now();
    const input = describeRules(options.pods);
    await host.run(['iptables-legacy-restore'], { input, timeout: patience, signal });
    const iptables = performance.now() - begin;
    return { ...(JSON.parse(output) as Omit<NamespacesFigures, 'iptables'>), iptables };
  } finally {
    await host.close();
  }
}

const namespaces = ['left', 'right'] as const;
type Namespace = (typeof namespaces)[number];

const address = (namespace: Namespace, index: number): string =>
  `10.${namespace === 'left' ? 60 : 61}.${index >> 8}.${index & 255}`;

function describeRules(pods: number): string {
  const numbers = Array.from({ length: pods }, (_, index) => index);
  const rules = numbers.flatMap((from) =>
    numbers.map((to) => `-A POLICY -s ${address('left', from)} -d ${address('right', to)} -j ACCEPT`),
  );
  return ['*filter', ':POLICY -', ...rules, '-A POLICY -j DROP', 'COMMIT\n'].join('\n');
}

const podsOf = (namespace: Namespace, { pods, podsOnNode }: NamespacesOptions): InputChange[] =>
  Array.from({ length: pods }, (_, index) =>
    podInput(namespace, `pod-${index}`, index < podsOnNode ? node : 'far', {
      labels: { app: 'web' },
      addresses: [address(namespace, index)],
    }),
  );

const namespaceInput = (name: Namespace): InputChange => ({
  topic: 'namespace',
  key: name,
  value: { name, labels: { 'kubernetes.io/metadata.name': name } },
});

const linksOf = (namespace: Namespace, { podsOnNode }: NamespacesOptions): LinkChange[] =>
  Array.from({ length: podsOnNode }, (_, index) => {
    const link = `cali-${namespace}-${index}`;
    return { link, value: { link, endpoint: `${namespace}/pod-${index}`, addresses: [] } };
  });

const named = (namespace: Namespace) => label('kubernetes.io/metadata.name', namespace);

function policyBetween(own: Namespace, other: Namespace): InputChange {
  const peer = { is: 'pods', namespaces: named(other), pods: { is: 'all' } } as const;
  const rule = { action: 'allow' } as const;
  return {
    topic: 'policy',
    key: own,
    value: {
      ...{ id: own, tier: 'default', order: 1000 },
      reference: {
        ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
        ...{ namespace: own, name: 'other-only' },
      },
      subjects: [{ is: 'pods', namespaces: named(own), pods: { is: 'all' } }],
      ingress: [{ ...rule, source: [{ peers: [peer] }], destination: [], path: 'spec.ingress[0]' }],
      egress: [{ ...rule, source: [], destination: [{ peers: [peer] }], path: 'spec.egress[0]' }],
    },
  };
}

function measureTable({ resources }: KernelPath): TableSize {
  let [elements, rules] = [0, 0];
  for (const resource of resources) {
    if (resource.kind === 'nft-element') elements++;
    if (resource.kind === 'nft-chain') rules += resource.chain.rules.length;
  }
  return { elements, rules };
}

/** Rounds whose figures do not count. */
const warmUp = 3;

async function applyAndDelete(options: NamespacesOptions): Promise<Omit<NamespacesFigures, 'iptables'>> {
  const path = new KernelPath();
  await path.start();
  const frame = measureTable(path);
  const policies = [policyBetween('left', 'right'), policyBetween('right', 'left')];
  await path.take(
    namespaces.flatMap((each) => [namespaceInput(each), ...podsOf(each, options)]),
    namespaces.flatMap((each) => linksOf(each, options)),
  );
  const [walls, exchanges]: [number[], number[]] = [[], []];
  let size: TableSize = frame;
  for (let round = -warmUp; round < options.rounds; round++) {
    const { wall, exchange } = await path.take(policies);
    size = measureTable(path);
    await path.take(policies.map(({ key }) => ({ topic: 'policy', key: String(key), value: undefined })));
    if (round < 0) continue;
    walls.push(wall);
    exchanges.push(exchange);
  }
  await path.close();
  return {
    ...{ flows: options.pods ** 2, podsOnNode: options.podsOnNode * namespaces.length },
    ...{ wall: summarize(walls), exchange: summarize(exchanges) },
    size: { elements: size.elements - frame.elements, rules: size.rules - frame.rules },
    ofLinks: options.podsOnNode * namespaces.length * 2,
  };
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(
    JSON.stringify(await applyAndDelete(JSON.parse(process.argv[2] ?? '{}') as NamespacesOptions)),
  );
