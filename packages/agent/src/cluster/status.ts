/** State of a cluster for the API and the metrics. The shapes are part of the interface (`podwire … -o json`). */
import type { PeerView, Problem } from '@podwire/network-contract';
import { describeError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { NodeSide, ServingState } from '../endpoints/context.js';
import type { ClusterMember } from './contract.js';
import type { Reachability } from './peer-leases.js';

/** A block of this node, or an address that another one has lent. */
export interface HoldingView {
  readonly cidr: string;
  readonly state: string;
}

export interface ClusterStatusView {
  readonly store: {
    readonly kind: string;
    readonly connected: boolean;
    /** RFC 3339: since when it is so. */
    readonly since: string;
  };
  /** `registered`, or why the node is not present in the cluster. */
  readonly standing: 'joining' | 'registered' | 'taken' | 'away';
  readonly instance: string;
  /** RFC 3339: when the store last confirmed what the node has. */
  readonly confirmedAt: string | null;
  /** Nothing is handed out. */
  readonly fenced: boolean;
  readonly underlay: object | null;
  readonly tunnel: object | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly holdings: readonly HoldingView[];
  /** Reports that have not reached the store. */
  readonly unreported: number;
  readonly peers: {
    readonly count: number;
    readonly withProblems: number;
    /** Those that hold no lease, with when this agent saw it (RFC 3339); `null` while the store does not tell. */
    readonly unreachable: readonly { readonly name: string; readonly since: string }[] | null;
  };
  /** `enabled`: this agent may lead the cluster. `leading`: it does. */
  readonly controller: { readonly enabled: boolean; readonly leading: boolean };
  /** Problems in words that begin with a code. */
  readonly problems: readonly string[];
}

export interface PeerStatusView extends Reachability {
  readonly name: string;
  readonly ipv4?: string;
  readonly ipv6?: string;
  readonly tunnel?: object;
  readonly mtu?: number;
  readonly blocks: readonly string[];
  /** Things in the kernel that lead to it. */
  readonly resources: number;
  readonly problems: readonly string[];
}

export function viewCluster(context: NodeSide, member: ClusterMember): ClusterStatusView {
  const { addressing, facts, identity, registration } = member;
  const { confirmedAt, fenced, affinities, unreported, problems } = addressing.status();
  const peers = viewPeers(context, member);
  return {
    store: member.connection,
    standing: registration.state.kind,
    instance: identity.instance,
    confirmedAt: confirmedAt > 0 ? new Date(confirmedAt).toISOString() : null,
    fenced,
    underlay: facts.underlay ?? null,
    tunnel: facts.tunnel ?? null,
    labels: member.labels,
    holdings: affinities.map(({ cidr, state }) => ({ cidr, state })),
    unreported,
    peers: {
      count: peers.length,
      withProblems: peers.filter((peer) => peer.problems.length > 0).length,
      unreachable: member.peerLeases.areKnown ? unreachableOf(peers) : null,
    },
    controller: member.controller,
    problems: [...problems, ...member.problems(), ...ownProblems(context)],
  };
}

const unreachableOf = (peers: readonly PeerStatusView[]): { name: string; since: string }[] =>
  peers.flatMap(({ name, unreachableSince }) =>
    unreachableSince === null ? [] : [{ name, since: unreachableSince }],
  );

export function viewPeers(context: NodeSide, { peers, peerLeases }: ClusterMember): PeerStatusView[] {
  const problems = problemsByPeer(context, [...peers.known.values()]);
  return [...peers.known.values()]
    .map(({ name, ipv4, ipv6, tunnel, mtu, blocks }) => {
      const problem = peers.problemOf(name);
      return {
        name,
        ...compact({ ipv4, ipv6, tunnel, mtu }),
        ...peerLeases.reachabilityOf(name),
        blocks,
        resources: peers.sizeOf(name),
        problems: [...(problem === undefined ? [] : [problem]), ...(problems.get(name) ?? [])],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Problems of the paths to peers, from the models of the node's networks. */
function problemsByPeer({ networks, node }: NodeSide, views: readonly PeerView[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const note = (peer: string, problem: string): void => {
    const list = found.get(peer);
    if (list === undefined) found.set(peer, [problem]);
    else if (!list.includes(problem)) list.push(problem);
  };
  for (const network of networks) {
    for (const problem of network.model.diagnose(node.view(network), views)) {
      if (problem.peer !== undefined) note(problem.peer, describeProblem(problem));
    }
  }
  return found;
}

function ownProblems({ networks, node }: NodeSide): string[] {
  return networks.flatMap((network) => network.model.diagnose(node.view(network), []).map(describeProblem));
}

const describeProblem = ({ code, message }: Problem): string =>
  code === undefined ? message : `${code}: ${message}`;

/** Reports if an ADD could be served now. */
export const isServing = (context: ServingState): boolean =>
  context.readiness.ready && refusal(context) === undefined;

/** Problem of serving in words; also one that does not keep ADDs from being served. */
export const whyNotServing = (context: ServingState): string | undefined =>
  context.readiness.problem ?? refusal(context);

function refusal({ cluster, policy }: ServingState): string | undefined {
  try {
    cluster?.requireUnfenced();
    policy?.requireKnown();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}
