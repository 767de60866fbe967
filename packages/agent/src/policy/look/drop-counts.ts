/** Reads counts of dropped packets from the counters of rules. */
import type { DropReason, PolicyRenderer } from '@podwire/network-policy';
import type { DropCount, RuleCounter } from '../contract.js';

/** Direction, reason, tier and policy: of equal text where all four are equal. */
export const keyOfReason = ({ direction, reason, tier = '', policy = '' }: DropReason): string =>
  [direction, reason, tier, policy].join(' ');

/** Sums of all rules that drop for the same reason; reasons without a packet are left out. */
export function countDrops(
  counters: readonly RuleCounter[],
  renderer: Pick<PolicyRenderer, 'describeRule'>,
): readonly DropCount[] {
  const sums = new Map<string, DropCount>();
  for (const counter of counters) {
    if (counter.packets === 0n) continue;
    const reason = renderer.describeRule?.(counter);
    if (reason === undefined) continue;
    const before = sums.get(keyOfReason(reason))?.packets ?? 0;
    sums.set(keyOfReason(reason), { ...reason, packets: before + Number(counter.packets) });
  }
  return [...sums.values()];
}
