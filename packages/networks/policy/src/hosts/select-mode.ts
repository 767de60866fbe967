/** Of what a host endpoint has, the part that looks at packets in one place. */
import type { CompiledDirection, HostMode, PolicyId } from '@podwire/policy';

/**
 * - `normal` ends as compiled, in profiles and a denial; policies of `forward` are for the node's own traffic, too.
 * - `forward` is closed at the end of a tier with policies, and open where there are none.
 * - `pre-dnat` and `untracked` close nothing by themselves: what they leave undecided goes on to normal policy.
 */
export function selectMode(
  { tiers, profiles, end }: CompiledDirection,
  mode: HostMode,
  modeOf: (id: PolicyId) => HostMode,
): CompiledDirection {
  const belongs = (id: PolicyId): boolean => {
    const own = modeOf(id);
    return own === mode || (mode === 'normal' && own === 'forward');
  };
  const isFirstLook = mode === 'pre-dnat' || mode === 'untracked';
  const selected = tiers
    .map((tier) => ({ ...tier, policies: tier.policies.filter(belongs) }))
    .filter(({ policies }) => policies.length > 0)
    .map((tier) => (isFirstLook ? { ...tier, end: 'pass' as const } : tier));
  return mode === 'normal'
    ? { tiers: selected, profiles, end }
    : { tiers: selected, profiles: [], end: 'allow' };
}
