/** Rules of a policy as chains. */
import type { Resource } from '@podwire/engine';
import type { CompiledPolicy, CompiledRule, HostMode } from '@podwire/policy';
import { type DropPrefix, dropRules, logStatements } from './drops.js';
import { acceptedMark } from './hosts/hooks.js';
import { type FindSet, matchesOf } from './match.js';
import {
  chain,
  comment,
  digest,
  type Direction,
  dropChain,
  policyChain,
  type Rule,
  type Statement,
} from './names.js';

/**
 * - `chain`: one that all tiers share, and come back from where no rule has decided.
 * - `inline`: a rule that passes leaves the tier, and a chain can come back one level only. So the rules stand in the chain of each
 *   tier that names the policy: `return` there skips the rest of it. A mark on the packet would do too, but marks are few, and
 *   belong to all programs of the machine.
 */
export type Placement = 'chain' | 'inline';

export interface RenderedPolicy {
  readonly placement: Placement;
  readonly rules: readonly Rule[];
  /** Sets of its own, its chain of drops, and its own chain. */
  readonly resources: readonly Resource[];
}

export interface PolicyContext {
  readonly direction: Direction;
  readonly logGroup: number;
  readonly find: FindSet;
}

/** Undefined where the policy does not govern the direction. */
export function renderPolicy(policy: CompiledPolicy, context: PolicyContext): RenderedPolicy | undefined {
  const rules = policy[context.direction];
  if (rules === undefined) return undefined;
  const { direction, logGroup } = context;
  const rendered = rules.map((rule) => renderRule(rule, policy, context));
  const body = rendered.flatMap((one) => one.rules);
  const placement: Placement = rules.some(({ action }) => action === 'pass') ? 'inline' : 'chain';
  const drops = rules.some(({ action }) => action === 'deny')
    ? [chain(dropChain(direction, policy.id), dropRules(reasonOf(policy, direction), logGroup))]
    : [];
  const own = placement === 'chain' ? [chain(policyChain(direction, policy.id), body)] : [];
  return {
    placement,
    rules: body,
    resources: [...rendered.flatMap((one) => one.constants), ...drops, ...own],
  };
}

const reasonOf = ({ id, broken }: CompiledPolicy, direction: Direction): DropPrefix => ({
  direction,
  reason: broken === undefined ? 'rule' : 'broken',
  about: digest(id),
});

function renderRule(
  rule: CompiledRule,
  { id, hostMode }: CompiledPolicy,
  { direction, logGroup, find }: PolicyContext,
): { readonly rules: readonly Rule[]; readonly constants: readonly Resource[] } {
  const { alternatives, constants } = matchesOf(rule, find);
  const end = statementsOf(rule.action, { id, hostMode }, direction, logGroup);
  const note = comment(`${rule.path} ${id}`);
  return {
    rules: alternatives.map((conditions) => ({ statements: [...conditions, ...end], comment: note })),
    constants,
  };
}

/** An accept ends one chain: what is allowed in front of tracking or translation is told to the chains behind. */
const mark: Statement = { is: 'set-mark', target: 'mark', value: acceptedMark, mask: acceptedMark };
const beforeAccept: Readonly<Record<HostMode, readonly Statement[]>> = {
  normal: [],
  forward: [],
  'pre-dnat': [mark],
  untracked: [{ is: 'notrack' }, mark],
};

function statementsOf(
  action: CompiledRule['action'],
  { id, hostMode }: Pick<CompiledPolicy, 'id' | 'hostMode'>,
  direction: Direction,
  logGroup: number,
): Statement[] {
  const counter: Statement = { is: 'counter' };
  switch (action) {
    case 'allow':
      return [counter, ...beforeAccept[hostMode], { is: 'accept' }];
    case 'deny':
      return [counter, { is: 'goto', chain: dropChain(direction, id) }];
    case 'pass':
      return [counter, { is: 'return' }];
    case 'log':
      return [counter, ...logStatements(logGroup, `${direction} ${id}`)];
  }
}
