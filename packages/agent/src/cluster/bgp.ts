/** Keeps a BGP daemon told of what this node has. In the background: pods never wait for it. */
import { formatAddress, parseInterfaceAddress } from '@podwire/addresses';
import type { BgpNeighbour, BgpView } from '@podwire/bird';
import { PodwireError } from '@podwire/errors';
import { type Clock, compact } from '@podwire/platform';
import type { BgpConfig } from '../config/bgp.js';
import type { Log } from '../log.js';
import type { BgpDaemon, BgpFollower } from './bgp-contract.js';
import type { ClusterMember } from './contract.js';
import { createSettleLoop } from './settle-loop.js';

export interface BgpParts {
  readonly config: BgpConfig;
  readonly nodeName: string;
  readonly member: Pick<ClusterMember, 'addressing' | 'cache' | 'facts' | 'onChange'>;
  readonly daemon: BgpDaemon;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds in which changes gather, and until a failure is tried again. */
const gather = 50;
const pause = 5_000;

export function followBgp(parts: BgpParts): BgpFollower {
  const { member, daemon, clock, log } = parts;
  const loop = createSettleLoop({
    work: async (signal) => {
      const view = describeSpeaker(parts);
      if (view === undefined) return;
      await daemon.ensure(view, signal);
      await daemon.apply(view, signal);
    },
    failure: 'the BGP daemon could not be told; it is tried again',
    clock,
    log,
    gather,
    pause,
  });
  const ends = [member.onChange(() => loop.soon()), member.addressing.onChange(() => loop.soon())];
  loop.soon();
  return {
    sessions: (signal) => daemon.sessions(signal),
    async stop() {
      for (const end of ends) end();
      await loop.stop();
      await daemon.stop();
    },
  };
}

/** What routers are to be told; undefined while the node does not know where it is itself. */
function describeSpeaker({
  config,
  nodeName,
  member,
  daemon,
}: Omit<BgpParts, 'clock' | 'log'>): BgpView | undefined {
  const { underlay } = member.facts;
  if (underlay === undefined) return undefined;
  const [ipv4, ipv6] = [underlay.ipv4, underlay.ipv6].map(withoutLength);
  const routerId = config.routerId ?? ipv4;
  if (routerId === undefined) {
    throw new PodwireError(
      'CONFIG_INVALID',
      'cluster.bgp.routerId: must be given on a node without an IPv4 address',
    );
  }
  return {
    node: nodeName,
    asn: config.asn,
    routerId,
    ...compact({ ipv4, ipv6 }),
    neighbours: config.routers.map((router) => describeRouter(router, daemon)),
    // What is claimed only just now is routed to by nobody, and what goes is withdrawn first.
    announced: member.addressing
      .affinities()
      .filter(({ state }) => state === 'confirmed')
      .map(({ cidr }) => cidr),
    pools: [...member.cache.pools.values()].map(({ value }) => value.cidr),
  };
}

const withoutLength = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : formatAddress(parseInterfaceAddress(text).address);

function describeRouter(
  { address, asn, multihop, passwordFile }: BgpConfig['routers'][number],
  daemon: BgpDaemon,
): BgpNeighbour {
  const password = passwordFile === undefined ? {} : { password: daemon.readSecret(passwordFile) };
  return { address, asn, multihop, ...password };
}
