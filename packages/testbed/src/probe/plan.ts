/** Plans the probes and the expected answers. Pure. */
import { type Family, familyOf } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import type { Participant, UnusedAddress } from './participant.js';

/**
 * `tcp`: a connection that carries several packets each way. `udp`: one datagram of the path's MTU each way, with DF.
 * `icmp`: the same as an echo request. `vacant`: a datagram to an unused address, which must be neither answered nor looped
 * (the names are stored in the JSON of `-o json`).
 */
export type ProbeKind = 'tcp' | 'udp' | 'icmp' | 'vacant';

export interface Probe {
  readonly kind: ProbeKind;
  readonly from: Participant;
  /** The participant that must answer; of `vacant`, the node that has the address' block. */
  readonly to: Participant;
  readonly family: Family;
  readonly address: string;
  /** Source addresses that the other end may see; any when absent. */
  readonly seenAs?: readonly string[];
}

/**
 * Every pod to every other pod, to every node and to the outside; every node to every pod; every pod to an unused address of
 * the next node's blocks.
 */
export function planProbes(
  parties: readonly Participant[],
  unusedAddresses: readonly UnusedAddress[] = [],
): Probe[] {
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
    ...pods.flatMap((pod) => unusedAddressProbes(pod, nodes, unusedAddresses)),
  ];
}

function probesBetween(from: Participant, to: Participant, nodes: readonly Participant[]): Probe[] {
  return ([4, 6] as const).flatMap((family): Probe[] => {
    const address = to.addresses[family];
    if (address === undefined || from.addresses[family] === undefined) return [];
    if (to.remote === true) return [{ kind: 'icmp' as const, from, to, family, address }];
    const seenAs = expectedSources(from, to, family, nodes);
    return (['tcp', 'udp'] as const).map((kind) => ({
      ...{ kind, from, to, family, address },
      ...compact({ seenAs }),
    }));
  });
}

/** A pod sees a pod's own address; the outside sees its node's (masquerade); a node may see either. */
function expectedSources(
  from: Participant,
  to: Participant,
  family: Family,
  nodes: readonly Participant[],
): readonly string[] | undefined {
  if (from.kind !== 'pod') return undefined;
  const own = from.addresses[family];
  const node = nodes.find(({ name }) => name === from.node)?.addresses[family];
  const accepted = to.kind === 'pod' ? [own] : to.kind === 'outside' ? [node] : [own, node];
  const known = accepted.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known;
}

function unusedAddressProbes(
  from: Participant,
  nodes: readonly Participant[],
  unusedAddresses: readonly UnusedAddress[],
): Probe[] {
  const at = nodes.findIndex(({ name }) => name === from.node);
  const next = nodes[(at + 1) % nodes.length];
  if (next === undefined || next.name === from.node) return [];
  return unusedAddresses
    .filter(({ node }) => node === next.name)
    .map(({ address }): Probe => ({
      kind: 'vacant',
      from,
      to: next,
      family: familyOf(address),
      address,
    }))
    .filter(({ family }) => from.addresses[family] !== undefined);
}
