/** How a node becomes the router again that it was before the agent: see docs/decisions/0024-a-router-for-pods-only.md. */
import type { Family } from '@podwire/addresses';
import type { Sysctl } from '@podwire/backend-linux/resources';
import { forwardedThen, type RememberedRouter } from './router-history.js';
import { acceptRaKey, forwardingKeys, redirectsKey, type RouterView } from './router-view.js';

export interface RestorePlan {
  /** To be set in this order, and none behind one that was refused. */
  readonly parameters: readonly Sysctl[];
  /** Settings that stay although they were different before, and why, in words. */
  readonly kept: readonly string[];
}

type Before = NonNullable<RememberedRouter[Family]>;

/** Only what still has the value that the agent gave it goes back: what another program has set since stays. */
export function planRestore(before: Before, family: Family, view: RouterView): RestorePlan {
  const wasHost = !forwardedThen(before, family);
  const bridges = view.bridges.filter((name) => !before.bridges.includes(name));
  if (wasHost && bridges.length > 0) {
    // Container engines that found forwarding on have not switched it on themselves.
    return { parameters: [], kept: [`IPv${family} forwarding: ${bridges.join(', ')} came since`] };
  }
  // A host that still forwards takes no routes from advertisements unless accept_ra is 2: forwarding first.
  const listening = family === 6 && wasHost ? planListening(before, view) : [];
  return { parameters: [...planForwarding(before, family, view), ...listening], kept: [] };
}

/** All keys of the family or none: setting `ip_forward` sets the default of new links too. */
function planForwarding(before: Before, family: Family, view: RouterView): Sysctl[] {
  const { parameters } = before;
  const known = forwardingKeys[family].filter((key) => parameters[key] !== undefined);
  const isChanged = known.some((key) => view.parameters[key] === '1' && parameters[key] !== '1');
  if (!isChanged) return [];
  const along = view.parameters[known[0]!] === parameters[known[0]!] ? [] : planChangedAlong(before, family);
  return [...known.map((key) => setting(key, parameters[key]!)), ...along];
}

/** With the node, each link stops forwarding, and redirects are taken: not so where the administrator had it otherwise. */
function planChangedAlong({ parameters }: Before, family: Family): Sysctl[] {
  const isOwn = (key: string, value: string): boolean =>
    key === redirectsKey
      ? value === '0'
      : key.endsWith('/forwarding') && !forwardingKeys[family].includes(key) && value !== '0';
  return Object.entries(parameters)
    .filter(([key, value]) => key.startsWith(`net/ipv${family}/`) && isOwn(key, value))
    .map(([key, value]) => setting(key, value));
}

/** Links that came since have the default that the agent has set. */
function planListening({ parameters }: Before, view: RouterView): Sysctl[] {
  return Object.entries(view.parameters)
    .filter(([key, value]) => key.endsWith('/accept_ra') && value === '2')
    .filter(([key]) => (parameters[key] ?? parameters[acceptRaKey('default')]) === '1')
    .map(([key]) => setting(key, '1'));
}

/** Optional, since links may go at any time. */
const setting = (key: string, value: string): Sysctl => ({
  kind: 'sysctl',
  in: 'host',
  key,
  value,
  optional: true,
});
