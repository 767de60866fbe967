/** Cost of compiling from nothing, and when one pod comes to a large cluster. The compiler only, no kernel or store. */
import {
  createCompiler,
  type InputChange,
  type PodFact,
  type PolicyCompiler,
  type Selector,
} from '@podwire/policy';
import { type Summary, summarize } from '../statistics.js';
import { label, policyInput } from './inputs.js';

export interface CompileOptions {
  readonly pods: number;
  readonly policies: number;
  readonly rounds: number;
}

/** Times are milliseconds. */
export interface CompileFigures {
  readonly fromNothing: Summary;
  /** A pod of another node that 100 sets take in. */
  readonly joins: Summary;
  /** The pod loses the label that did it. */
  readonly leaves: Summary;
  /** Bytes of heap that the compiler holds with everything that it was told; NaN where Node does not let us collect garbage. */
  readonly heap: number;
  readonly elements: number;
  readonly rules: number;
}

const node = 'node-1';
const podsOnNode = 50;
const podsInNamespace = 50;
const selections = 100;

export function measureCompile({ pods, policies, rounds }: CompileOptions): CompileFigures {
  const inputs = describeCluster(pods, policies);
  const fromNothing = repeat(rounds, () => createCompiler({ node }).apply(inputs));
  const before = readHeap();
  const compiler = createCompiler({ node });
  compiler.apply(inputs);
  const heap = readHeap() - before;
  const joins: number[] = [];
  const leaves: number[] = [];
  for (let round = 0; round < rounds; round++) {
    joins.push(...repeatSamples(() => compiler.apply([joiner(true)])));
    leaves.push(...repeatSamples(() => compiler.apply([joiner(false)])));
  }
  return { fromNothing, joins: summarize(joins), leaves: summarize(leaves), heap, ...count(compiler) };
}

const repeat = (rounds: number, work: () => unknown): Summary =>
  summarize(Array.from({ length: rounds }, () => repeatSamples(work)).flat());

function repeatSamples(work: () => unknown): number[] {
  const begin = performance.now();
  work();
  return [performance.now() - begin];
}

function readHeap(): number {
  if (globalThis.gc === undefined) return Number.NaN;
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function count({ state }: PolicyCompiler): Pick<CompileFigures, 'elements' | 'rules'> {
  const members = [...state.sets.values()].map((set) => set.members.size);
  const rules = [...state.policies.values()].map(
    ({ ingress = [], egress = [] }) => ingress.length + egress.length,
  );
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
  return { elements: sum(members), rules: sum(rules) };
}

/** One policy in five selects all pods of the node's namespaces with a selection of its own, the others are of other namespaces. */
const describeCluster = (pods: number, policies: number): InputChange[] => [
  ...Array.from({ length: pods }, (_, index) => podAt(index)),
  ...Array.from({ length: policies }, (_, index) => policyAt(index)),
];

function podAt(index: number): InputChange {
  const namespace = `team-${Math.floor(index / podsInNamespace)}`;
  const labels = {
    app: `app-${index % 20}`,
    tier: index % 2 === 0 ? 'web' : 'data',
    'pod-template-hash': `${index}`,
  };
  return pod(namespace, `pod-${index}`, {
    labels,
    addresses: [`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`],
    node: index < podsOnNode ? node : `node-${2 + (index % 100)}`,
  });
}

/** A pod of `team-1`, on another node, that all selections for `joins` take in. */
const joiner = (joins: boolean): InputChange =>
  pod('team-1', 'joiner', {
    labels: joins ? { joins: 'yes' } : {},
    addresses: ['10.255.0.1'],
    node: 'node-2',
  });

const pod = (
  namespace: string,
  name: string,
  rest: Pick<PodFact, 'labels' | 'addresses' | 'node'>,
): InputChange => ({
  topic: 'pod',
  key: `${namespace}/${name}`,
  value: { namespace, name, ports: [{ name: 'http', protocol: 'tcp', port: 8080 }], ...rest },
});

function policyAt(index: number): InputChange {
  const isOfNode = index < selections;
  const namespace = isOfNode ? 'team-0' : `team-${index % 100}`;
  const ofApp = label('app', `app-${index % 20}`);
  const subject = { namespaces: named(namespace), pods: isOfNode ? ({ is: 'all' } as const) : ofApp };
  const joined: Selector = { is: 'or', of: [label('joins', 'yes'), label('pod-template-hash', `${index}`)] };
  const allowed = { port: 8000 + (index % 100), pods: isOfNode ? joined : ofApp };
  return policyInput(namespace, `policy-${index}`, subject, allowed);
}

const named = (namespace: string): Selector => label('kubernetes.io/metadata.name', namespace);
