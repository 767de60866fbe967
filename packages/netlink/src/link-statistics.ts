import { DecodeError } from './errors.js';

export interface DirectionStatistics {
  readonly bytes: bigint;
  readonly packets: bigint;
  readonly errors: bigint;
  readonly dropped: bigint;
}

/** Counters of a link since it was made, as the node sees them: a pod sends what its veth's other end receives. */
export interface LinkStatistics {
  readonly received: DirectionStatistics;
  readonly sent: DirectionStatistics;
}

/** The first eight of struct rtnl_link_stats64's counters; they alternate between receiving and sending. */
const COUNTERS = 8;

export function readStatistics(bytes: Buffer | undefined): LinkStatistics | undefined {
  if (bytes === undefined) return undefined;
  if (bytes.length < 8 * COUNTERS) throw new DecodeError(`link statistics of ${bytes.length} bytes`);
  const counter = (index: number) => bytes.readBigUInt64LE(8 * index);
  const direction = (first: number): DirectionStatistics => ({
    packets: counter(first),
    bytes: counter(first + 2),
    errors: counter(first + 4),
    dropped: counter(first + 6),
  });
  return { received: direction(0), sent: direction(1) };
}
