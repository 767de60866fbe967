/** Connectivity and speed: asked and answered by the processes in the namespaces. */
import { familyOf } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import {
  type Participants,
  type CheckResult,
  commonPort,
  evaluateCheck,
  type Participant,
  planChecks,
} from './checks.js';
import { addresses, type DemoHost } from './host.js';
import type { PeerPort, PeerProtocol } from './peer-messages.js';
import { openDemoNamespace } from './namespaces.js';
import { startPeer } from './peers.js';
import type { DemoPod, DemoState } from './state.js';

/** With a host. */
type DemoOnHost = DemoState & { readonly host: DemoHost };

export interface RateResult {
  readonly from: string;
  readonly to: string;
  /** Bits per second that were asked for; absent where there is no limit. */
  readonly limit?: number;
  /** Bits per second, as the receiver counted. */
  readonly measured: number;
}

export function makeParticipants({ families }: DemoHost, pods: readonly DemoPod[]): Participants {
  const limit = (all: Readonly<Record<4 | 6, string>>): Participant['addresses'] =>
    Object.fromEntries(families.map((family) => [family, all[family]]));
  const participants = pods.map(({ endpoint }): Participant => ({
    name: endpoint.pod.name ?? endpoint.containerId,
    addresses: Object.fromEntries(endpoint.addresses.map((address) => [familyOf(address), address])),
  }));
  return {
    pods: participants,
    node: { name: 'node', addresses: limit(addresses.node) },
    world: { name: 'world', addresses: limit(addresses.world) },
    families,
    published: pods.flatMap(({ endpoint }, index) =>
      endpoint.portMappings
        .filter(({ protocol }) => protocol !== 'sctp')
        .map(({ hostPort, protocol }) => ({
          pod: participants[index]!,
          hostPort,
          protocol: protocol as PeerProtocol,
        })),
    ),
  };
}

/** All at once: each takes as long as Node takes to start. */
export async function startPeers(
  { host, peers, record, namespaces }: DemoOnHost,
  { node, world }: Participants,
  pods: readonly DemoPod[],
  signal: AbortSignal,
): Promise<void> {
  const common = (['tcp', 'udp'] as const).map((protocol) => ({ protocol, port: commonPort }));
  const wanted = [
    { name: node.name, namespace: host.node, ports: common },
    { name: world.name, namespace: host.world, ports: common },
    ...pods.map(({ view, endpoint }) => {
      const namespace = openDemoNamespace(view.name, endpoint.netns);
      namespaces.push(namespace);
      return { name: view.name, namespace, ports: [...common, ...ownPorts(endpoint)] };
    }),
  ];
  const started = await Promise.allSettled(
    wanted.map(async ({ namespace, ...settings }) => {
      peers.set(settings.name, await startPeer(namespace, settings, record, signal));
    }),
  );
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The pod's own program answers where it listens. */
function ownPorts({ portMappings }: DemoPod['endpoint']): PeerPort[] {
  return portMappings
    .filter(({ protocol }) => protocol !== 'sctp')
    .map(({ containerPort, protocol }) => ({
      protocol: protocol as PeerProtocol,
      port: containerPort,
      unlessTaken: true,
    }));
}

/** Questions that are under way at once: more would only measure the queue. */
const atOnce = 2;

export async function measureReach(
  { peers }: DemoOnHost,
  participants: Participants,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const checks = planChecks(participants);
  const results: CheckResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < checks.length; at = next++) {
      signal.throwIfAborted();
      const check = checks[at]!;
      const { protocol, address, port } = check;
      results[at] = evaluateCheck(check, await peers.get(check.from)!.ask(protocol, address, port));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

/** Seconds that a limited transfer takes: long enough for the bucket's contents not to count. */
const pourSeconds = 1;
const unlimitedBytes = 64 << 20;

export async function measureRates(
  { peers }: DemoOnHost,
  pods: readonly DemoPod[],
  signal: AbortSignal,
): Promise<RateResult[]> {
  const limited = pods.find(({ endpoint }) => endpoint.bandwidth !== undefined)?.endpoint;
  const [one, other] = pods.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== limited);
  if (limited === undefined || one === undefined || other === undefined) return [];
  const { ingressRate, egressRate } = limited.bandwidth ?? {};
  // One after the other: a transfer at full speed would take the processor away from the others.
  const wanted = [
    { from: one, to: limited, limit: ingressRate },
    { from: limited, to: one, limit: egressRate },
    { from: one, to: other, limit: undefined },
  ];
  const results: RateResult[] = [];
  for (const { from, to, limit } of wanted) {
    signal.throwIfAborted();
    const bytes = limit === undefined ? unlimitedBytes : Math.round((limit / 8) * pourSeconds);
    const names = { from: from.pod.name ?? '', to: to.pod.name ?? '' };
    const poured = await peers.get(names.from)!.pour(to.addresses[0]!, commonPort, bytes);
    const measured = (poured.bytes * 8 * 1_000) / poured.milliseconds;
    results.push({ ...names, ...compact({ limit }), measured });
  }
  return results;
}
