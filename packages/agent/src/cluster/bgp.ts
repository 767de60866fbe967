/** Keeps the configuration of a BGP daemon up to date. In the background: pods never wait for it. */
import { formatAddress, parseInterfaceAddress } from '@podwire/addresses';
import type { BgpNeighbour, BgpView } from '@podwire/bird';
import { PodwireError } from '@podwire/errors';
import { type Clock, compact, Workqueue } from '@podwire/platform';
import type { BgpConfig } from '../config/bgp.js';
import type { Log } from '../log.js';
import type { BgpDaemon, BgpFollower } from './bgp-contract.js';
import type { ClusterMember } from './contract.js';

export interface BgpParts {
  readonly config: BgpConfig;
  readonly nodeName: string;
  readonly member: Pick<ClusterMember, 'addressing' | 'cache' | 'facts' | 'onChange'>;
  readonly daemon: BgpDaemon;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds in which changes are gathered, and until a failure is tried again. */
const gatherFor = 50;
const retryAfter = 5_000;

export function followBgp(parts: BgpParts): BgpFollower {
  const { member, daemon, clock, log } = parts;
  const queue = new Workqueue({
    reconcile: async (_, signal) => {
      const view = describeSpeaker(parts);
      if (view === undefined) return;
      await daemon.ensure(view, signal);
      await daemon.apply(view, signal);
    },
    onError: (err) => log.error({ err }, 'the BGP daemon could not be configured; it is tried again'),
    clock,
    delay: gatherFor,
    backoff: { first: retryAfter, longest: retryAfter },
    holdBackoff: true,
  });
  const update = (): void => queue.add('speaker');
  const ends = [member.onChange(update), member.addressing.onChange(update)];
  update();
  return {
    sessions: (signal) => daemon.sessions(signal),
    async stop() {
      for (const end of ends) end();
      await queue.stop();
      await daemon.stop();
    },
  };
}

/** The speaker's configuration; undefined while the node does not know its own address. */
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
    // A pending block is not routed to, and one that is released is withdrawn first.
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
