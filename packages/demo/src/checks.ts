/** Which questions the demo asks, and what the right answers are. */
import { type Family } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import type { Asked } from './peers.js';
import type { PeerProtocol } from './peer-messages.js';

export type Addresses = Readonly<Partial<Record<Family, string>>>;

/** A participant of the demo: a pod, the node or the world. */
export interface Participant {
  readonly name: string;
  readonly addresses: Addresses;
}

/** A port on the node that leads to a pod. */
export interface PublishedPort {
  readonly pod: Participant;
  readonly hostPort: number;
  readonly protocol: PeerProtocol;
}

export interface Participants {
  readonly pods: readonly Participant[];
  readonly node: Participant;
  readonly world: Participant;
  readonly published: readonly PublishedPort[];
  readonly families: readonly Family[];
}

export interface Check {
  /** `direct`: to a participant's own address; `port`: through a port of the node. */
  readonly kind: 'direct' | 'port';
  readonly from: string;
  /** In words, for tables: `web`, `the node, 8080/tcp`. */
  readonly to: string;
  readonly protocol: PeerProtocol;
  readonly family: Family;
  readonly address: string;
  readonly port: number;
  /** Pod that must answer. */
  readonly answeredBy: string;
  /** Whom it must see; any address will do when absent. */
  readonly seenAs?: string;
}

export interface CheckResult extends Check {
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Whom the other end saw, when it answered. */
  readonly saw?: string;
  /** Problem, in words. */
  readonly problem?: string;
}

/** The port of the echo servers, TCP and UDP (RFC 862). */
export const commonPort = 7;

const protocols = ['tcp', 'udp'] as const;
const loopback = { 4: '127.0.0.1', 6: '::1' } as const;

/**
 * All pairs, except from the world to pods, to which it has no route; then every published port from the
 * world, from the node's loopback, from another pod, and from the pod itself.
 */
export function planChecks(participants: Participants): Check[] {
  const { pods, node, world } = participants;
  const inside = [...pods, node];
  const direct = inside.flatMap((from) =>
    [...pods, node, world].filter((to) => to !== from).flatMap((to) => directChecks(participants, from, to)),
  );
  return [...direct, ...participants.published.flatMap((port) => portChecks(participants, port))];
}

function directChecks(participants: Participants, from: Participant, to: Participant): Check[] {
  return participants.families.flatMap((family) =>
    protocols.flatMap((protocol) => {
      const address = to.addresses[family];
      if (address === undefined) return [];
      const seenAs = expectedSource(participants, from, to, family);
      return [
        {
          kind: 'direct' as const,
          from: from.name,
          to: to.name,
          ...{ protocol, family, address, port: commonPort, answeredBy: to.name },
          ...compact({ seenAs }),
        },
      ];
    }),
  );
}

/** Inside, a pod is seen as itself; outside, as the node (NAT). */
function expectedSource(
  { node, world, pods }: Participants,
  from: Participant,
  to: Participant,
  family: Family,
): string | undefined {
  if (to === world) return node.addresses[family];
  return pods.includes(from) ? from.addresses[family] : undefined;
}

function portChecks(participants: Participants, { pod, hostPort, protocol }: PublishedPort): Check[] {
  const { world, node, pods, families } = participants;
  const other = pods.find((each) => each !== pod);
  const port = `${hostPort}/${protocol}`;
  const ways = [
    { from: world, to: `node:${port}`, at: node.addresses, seen: world.addresses },
    { from: node, to: `loopback:${port}`, at: loopback, seen: undefined },
    ...(other === undefined
      ? []
      : [{ from: other, to: `node:${port}`, at: node.addresses, seen: other.addresses }]),
    { from: pod, to: `node:${port}`, at: node.addresses, seen: undefined },
  ];
  return ways.flatMap(({ from, to, at, seen }) =>
    families.flatMap((family) => {
      const address = at[family];
      if (address === undefined || pod.addresses[family] === undefined) return [];
      const seenAs = seen?.[family];
      return [
        {
          kind: 'port' as const,
          from: from.name,
          to,
          ...{ protocol, family, address, port: hostPort, answeredBy: pod.name },
          ...compact({ seenAs }),
        },
      ];
    }),
  );
}

/** Compares an answer with what the probe expects. */
export function evaluateCheck(check: Check, { milliseconds, answer, error }: Asked): CheckResult {
  if (answer === undefined) return { ...check, ok: false, milliseconds, problem: error ?? 'no answer' };
  const saw = answer.seen.address;
  const problem = findFault(check, answer.name, saw);
  return {
    ...check,
    ok: problem === undefined,
    milliseconds,
    saw,
    ...compact({ problem }),
  };
}

function findFault({ answeredBy, seenAs }: Check, name: string, saw: string): string | undefined {
  if (name !== answeredBy) return `${name} answered instead of ${answeredBy}`;
  if (seenAs !== undefined && saw !== seenAs) return `it was seen as ${saw} instead of ${seenAs}`;
  return undefined;
}
