/** The views of policy that the API shows. Pure. */
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import {
  type CompiledEndpoint,
  type CompiledPolicy,
  type CompiledState,
  type HostMode,
  hostEndpointsByLink,
  hostKey,
} from '@podwire/policy';
import type { NodePolicy, PolicyProblem } from '../contract.js';
import { isStandIn } from '../inputs/departed-pods.js';
import { lineOf, type RuleView } from './rule-view.js';

export interface PolicyView {
  /** True once all objects and facts were read. */
  readonly known: boolean;
  /** True if the kernel has the wanted table. */
  readonly inForce: boolean;
  /** Objects up to this revision of their source are in force; null before the first. */
  readonly revision: number | null;
  readonly source: string;
  readonly counts: {
    readonly objects: number;
    readonly policies: number;
    readonly endpoints: number;
    readonly pods: number;
    readonly nodes: number;
    readonly sets: number;
    readonly members: number;
  };
  /** Milliseconds of the last change that the kernel saw. */
  readonly lastChange: {
    readonly compile: number;
    readonly exchange: number;
    readonly resources: number;
  } | null;
  /** Why the newest is not in force; null where it is. */
  readonly problem: string | null;
  readonly problems: readonly PolicyProblem[];
}

export function viewPolicy(policy: NodePolicy): PolicyView {
  const { state, compiler, inputs, source } = policy;
  const { sets, policies, endpoints } = compiler.state;
  const { last, problem } = state;
  return {
    known: state.isKnown,
    inForce: state.isApplied && problem === undefined,
    revision: state.revision ?? null,
    source,
    counts: {
      objects: inputs.objects.count,
      policies: policies.size,
      endpoints: [...endpoints.keys()].filter((key) => !isStandIn(key)).length,
      pods: inputs.pods.pods.size,
      nodes: inputs.nodes.facts.size,
      sets: sets.size,
      members: [...sets.values()].reduce((sum, { members }) => sum + members.size, 0),
    },
    lastChange:
      last === undefined ? null : { compile: last.compile, exchange: last.exchange, resources: last.changed },
    problem: problem === undefined ? null : describeError(problem),
    problems: state.problems,
  };
}

export interface PodPolicyView {
  readonly pod: object;
  readonly ingress: DirectionView;
  readonly egress: DirectionView;
}

export interface DirectionView {
  /** Nothing that selects the pod governs the direction. */
  readonly isOpen: boolean;
  /** In order of evaluation. */
  readonly tiers: readonly {
    readonly tier: string;
    readonly end: string;
    readonly policies: readonly SelectingPolicy[];
  }[];
  readonly end: string;
}

export interface SelectingPolicy extends RuleView {
  readonly rules: readonly {
    readonly action: string;
    readonly path: string;
    readonly line?: number | undefined;
  }[];
  readonly broken?: string | undefined;
  /** Where the policy of a host endpoint looks at packets; absent: at the node's own, or a pod's. */
  readonly hostMode?: Exclude<HostMode, 'normal'> | undefined;
}

export interface HostPolicyView {
  readonly hostEndpoint: string;
  /** `*`: all links of the node without a host endpoint of their own; null where no link has its addresses. */
  readonly link: string | null;
  /** The host endpoint that the link has in its place: the first by name. */
  readonly supersededBy: string | null;
  readonly ingress: DirectionView;
  readonly egress: DirectionView;
}

/** @throws PodwireError ENDPOINT_UNKNOWN for a pod that is not known */
export function viewPod({ compiler }: Pick<NodePolicy, 'compiler'>, key: string): PodPolicyView {
  const inspection = compiler.inspect(key);
  if (inspection === undefined) {
    throw new PodwireError('ENDPOINT_UNKNOWN', `policy knows no pod ${key}`, {
      action: '`podwire pods` lists those of this node; one of another node is known once it is there.',
    });
  }
  return {
    pod: inspection.pod,
    ingress: viewDirection(inspection, 'ingress'),
    egress: viewDirection(inspection, 'egress'),
  };
}

/** @throws PodwireError ENDPOINT_UNKNOWN for one that is not there, or is of another node */
export function viewHost({ compiler }: Pick<NodePolicy, 'compiler'>, name: string): HostPolicyView {
  const { endpoints, policies } = compiler.state;
  const endpoint = endpoints.get(hostKey(name));
  if (endpoint === undefined) {
    throw new PodwireError('ENDPOINT_UNKNOWN', `this node has no host endpoint ${name}`, {
      action: '`podwire get hostendpoints` lists them with their nodes; each is asked about on its own node.',
    });
  }
  const found = { endpoint, policies };
  return {
    hostEndpoint: name,
    link: endpoint.link ?? null,
    supersededBy: findOther(endpoint, endpoints.values()),
    ingress: viewDirection(found, 'ingress'),
    egress: viewDirection(found, 'egress'),
  };
}

function findOther({ key, link = '' }: CompiledEndpoint, all: Iterable<CompiledEndpoint>): string | null {
  const inForce = hostEndpointsByLink(all).get(link);
  return inForce === undefined || inForce.key === key ? null : inForce.key.slice(hostKey('').length);
}

interface Selected {
  readonly endpoint: CompiledEndpoint;
  readonly policies: CompiledState['policies'];
}

function viewDirection(selected: Selected, direction: 'ingress' | 'egress'): DirectionView {
  const compiled = selected.endpoint[direction];
  const find = (id: string): SelectingPolicy[] => {
    const policy = selected.policies.get(id);
    return policy === undefined ? [] : [viewPolicyOf(policy, direction)];
  };
  const tiers = compiled.tiers.map(({ tier, end, policies }) => ({
    tier,
    end,
    policies: policies.flatMap(find),
  }));
  const profiles =
    compiled.profiles.length === 0
      ? []
      : [{ tier: 'profiles', end: compiled.end, policies: compiled.profiles.flatMap(find) }];
  return {
    isOpen: tiers.length + profiles.length === 0 && compiled.end === 'allow',
    tiers: [...tiers, ...profiles],
    end: compiled.end,
  };
}

/** Several compiled rules may be one rule of the object. */
function viewPolicyOf(policy: CompiledPolicy, direction: 'ingress' | 'egress'): SelectingPolicy {
  const rules = new Map(
    (policy[direction] ?? []).map(({ action, path }) => [`${action} ${path}`, { action, path }]),
  );
  return {
    policy: policy.id,
    tier: policy.tier,
    ...lineOf(policy, undefined),
    rules: [...rules.values()].map((rule) => ({
      ...rule,
      ...compact({ line: lineOf(policy, rule.path).line }),
    })),
    ...compact({
      broken: policy.broken,
      hostMode: policy.hostMode === 'normal' ? undefined : policy.hostMode,
    }),
  };
}
