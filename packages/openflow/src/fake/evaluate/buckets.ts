/** The buckets of a group that a packet goes through. */
import type { Bucket, Group } from '../../group.js';
import type { EvaluateOptions, Surface } from './evaluation.js';
import type { Packet } from './packet.js';

const DEEPEST = 128;

function isAlive({ watchPort, watchGroup }: Bucket, surface: Surface, depth: number): boolean {
  if (watchPort !== undefined && surface.ports.get(watchPort) === true) return true;
  const group = watchGroup === undefined ? undefined : surface.groups.get(watchGroup);
  return (
    group !== undefined &&
    depth < DEEPEST &&
    group.buckets.some((bucket) => isLive(bucket, surface, depth + 1))
  );
}

/** A bucket that watches nothing is always alive. */
const isLive = (bucket: Bucket, surface: Surface, depth = 0): boolean =>
  (bucket.watchPort === undefined && bucket.watchGroup === undefined) || isAlive(bucket, surface, depth);

const hashed = [
  ...(['eth_src', 'eth_dst', 'eth_type', 'ip_proto', 'ip_src', 'ip_dst', 'ipv6_src', 'ipv6_dst'] as const),
  ...(['tcp_src', 'tcp_dst', 'udp_src', 'udp_dst', 'sctp_src', 'sctp_dst'] as const),
];

/** FNV-1a over the fields of a conversation. */
function hash(packet: Packet): number {
  let value = 0x811c9dc5;
  for (const character of hashed.map((name) => packet.get(name).toString(16)).join())
    value = Math.imul(value ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return value;
}

function chooseByWeight({ buckets }: Group, packet: Packet): number {
  const weights = buckets.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return -1;
  let rest = hash(packet) % total;
  return weights.findIndex((weight) => (rest -= weight) < 0);
}

export function chooseBuckets(
  group: Group,
  packet: Packet,
  surface: Surface,
  { chooseBucket }: EvaluateOptions,
): readonly Bucket[] {
  switch (group.type) {
    case 'all':
    case 'indirect':
      return group.buckets;
    case 'fast_failover':
      return group.buckets.filter((bucket) => isLive(bucket, surface)).slice(0, 1);
    case 'select': {
      const index = chooseBucket?.(group, packet.describe()) ?? chooseByWeight(group, packet);
      return group.buckets.slice(index, index + 1);
    }
  }
}
