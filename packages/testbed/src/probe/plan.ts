/** Which questions are asked, and what the right answers are. Pure. */
import type { Family } from '@podwire/linux';
import type { Party, Vacancy } from './party.js';

/**
 * `tcp`: a connection over which more than one packet goes and comes back; `udp`: one datagram of the path's full size
 * each way, with DF; `icmp`: the same as an echo, which every kernel answers; `vacant`: a datagram to an address that nobody has, which must not be answered and must not travel in circles.
 */
export type ProbeKind = 'tcp' | 'udp' | 'icmp' | 'vacant';

export interface Probe {
  readonly kind: ProbeKind;
  readonly from: Party;
  /** Who must answer; of `vacant`, the node whose block the address is of. */
  readonly to: Party;
  readonly family: Family;
  readonly address: string;
  /** Whom the other end may see; anything will do when absent. */
  readonly seenAs?: readonly string[];
}

/**
 * Every pod to every other pod, to every node and to the outside; every node to every pod; every pod to an address that nobody
 * has of the next node's blocks.
 */
export function planProbes(parties: readonly Party[], vacancies: readonly Vacancy[] = []): Probe[] {
  const pods = parties.filter(({ kind, remote }) => kind === 'pod' && remote !== true);
  const remotePods = parties.filter(({ kind, remote }) => kind === 'pod' && remote === true);
  const nodes = parties.filter(({ kind }) => kind === 'node');
  const pairs = [
    ...pods.flatMap((from) => parties.map((to) => ({ from, to }))),
    ...nodes
      .filter(({ remote }) => remote !== true)
      .flatMap((from) => [...pods, ...remotePods].map((to) => ({ from, to }))),
  ].filter(({ from, to }) => from !== to);
  return [
    ...pairs.flatMap(({ from, to }) => probesBetween(from, to, nodes)),
    ...pods.flatMap((pod) => vacantProbes(pod, nodes, vacancies)),
  ];
}

function probesBetween(from: Party, to: Party, nodes: readonly Party[]): Probe[] {
  return ([4, 6] as const).flatMap((family): Probe[] => {
    const address = to.addresses[family];
    if (address === undefined || from.addresses[family] === undefined) return [];
    if (to.remote === true) return [{ kind: 'icmp' as const, from, to, family, address }];
    const seenAs = expectedSources(from, to, family, nodes);
    return (['tcp', 'udp'] as const).map((kind) => ({
      ...{ kind, from, to, family, address },
      ...(seenAs === undefined ? {} : { seenAs }),
    }));
  });
}

/** Pods see each other as they are; outside, a pod is seen as its node (masquerade); a node may see either. */
function expectedSources(
  from: Party,
  to: Party,
  family: Family,
  nodes: readonly Party[],
): readonly string[] | undefined {
  if (from.kind !== 'pod') return undefined;
  const own = from.addresses[family];
  const node = nodes.find(({ name }) => name === from.node)?.addresses[family];
  const accepted = to.kind === 'pod' ? [own] : to.kind === 'outside' ? [node] : [own, node];
  const known = accepted.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known;
}

function vacantProbes(from: Party, nodes: readonly Party[], vacancies: readonly Vacancy[]): Probe[] {
  const at = nodes.findIndex(({ name }) => name === from.node);
  const next = nodes[(at + 1) % nodes.length];
  if (next === undefined || next.name === from.node) return [];
  return vacancies
    .filter(({ node }) => node === next.name)
    .map(({ address }): Probe => ({
      kind: 'vacant',
      from,
      to: next,
      family: address.includes(':') ? 6 : 4,
      address,
    }))
    .filter(({ family }) => from.addresses[family] !== undefined);
}
