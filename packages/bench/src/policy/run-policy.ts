/** Cost of policy for packets of pods and for changes: real agents, real etcd, real kernel. */
import { type BenchCall, type Programs, stepsOf } from '../call.js';
import { type Conditions, noteConditions } from '../machine.js';
import { measurePolicyAdds, type PolicyAdds } from './add.js';
import { measurePolicyChanges, type PolicyChanges } from './change.js';
import { type CompileFigures, type CompileOptions, measureCompile } from './compile.js';
import { type JoinFigures, measureJoins } from './join.js';
import { type LargeAgentFigures, type LargeAgentOptions, measureLargeAgent } from './large-agent.js';
import { measureNamespaces, type NamespacesFigures, type NamespacesOptions } from './namespaces.js';
import { measurePolicyTraffic, type PolicyTrafficOptions, type TrafficRow } from './traffic/traffic.js';

export interface PolicyBenchOptions extends Programs {
  readonly adds: {
    readonly policies: number;
    readonly knownPods: number;
    readonly pods: number;
    readonly firsts: number;
  };
  readonly changes: {
    readonly nodes: number;
    readonly pods: number;
    readonly podsPerNode: number;
    readonly policies: number;
    readonly changes: number;
  };
  readonly joins: { readonly selectors: number; readonly knownPods: number; readonly rounds: number };
  readonly namespaces: NamespacesOptions;
  readonly compile: CompileOptions;
  readonly agents: Pick<LargeAgentOptions, 'knownPods' | 'policies' | 'podsOnNode'>;
  readonly traffic: Pick<PolicyTrafficOptions, 'sizes' | 'rounds' | 'megabytes' | 'turns'>;
}

export const defaultPolicyOptions = {
  adds: { policies: 100, knownPods: 1_000, pods: 200, firsts: 10 },
  changes: { nodes: 3, pods: 1_000, podsPerNode: 10, policies: 100, changes: 200 },
  joins: { selectors: 100, knownPods: 1_000, rounds: 200 },
  namespaces: { pods: 200, podsOnNode: 55, rounds: 30 },
  compile: { pods: 5_000, policies: 500, rounds: 10 },
  agents: { knownPods: 5_000, policies: 500, podsOnNode: 10 },
  traffic: { sizes: [1, 100, 1_000], rounds: 40, megabytes: 60, turns: 3_000 },
} as const satisfies Omit<PolicyBenchOptions, 'binDir' | 'agent'>;

/** The result that is written as JSON. */
export interface PolicyResult extends Conditions {
  readonly options: PolicyBenchOptions;
  readonly adds: PolicyAdds;
  readonly changes: PolicyChanges;
  readonly joins: JoinFigures;
  readonly namespaces: NamespacesFigures;
  readonly compile: CompileFigures;
  readonly agents: LargeAgentFigures;
  readonly traffic: readonly TrafficRow[];
}

/**
 * Needs root, etcd-server and etcd-client. Leaves nothing behind.
 * @throws Error when anything does not work: there is no figure for that
 */
export async function runPolicy(options: PolicyBenchOptions, call: BenchCall): Promise<PolicyResult> {
  const { signal } = call;
  const { binDir, agent } = options;
  const conditions = noteConditions();
  const { progress } = stepsOf(call);
  const shared = { binDir, agent, signal, progress };
  const adds = await measurePolicyAdds({ ...options.adds, ...shared });
  const changes = await measurePolicyChanges({ ...options.changes, ...shared });
  progress('a pod joins many selectors', 0, 1);
  const joins = await measureJoins(options.joins, signal);
  progress('two namespaces', 0, 1);
  const namespaces = await measureNamespaces(options.namespaces, signal);
  progress('a compile from nothing', 0, 1);
  const compile = measureCompile(options.compile);
  const agents = await measureLargeAgent({ ...options.agents, ...shared });
  const traffic = await measurePolicyTraffic({ ...options.traffic, ...shared });
  return {
    ...conditions(),
    options,
    ...{ adds, changes, joins, namespaces, compile, agents, traffic },
  };
}
