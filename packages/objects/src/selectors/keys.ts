import type { Selector } from './selector.js';

/** The labels that a selector looks at: a change of others changes nothing. */
export function keysOf(selector: Selector): ReadonlySet<string> {
  const keys = new Set<string>();
  collect(selector, keys);
  return keys;
}

function collect(selector: Selector, keys: Set<string>): void {
  if ('key' in selector) keys.add(selector.key);
  else if (selector.is === 'not') collect(selector.of, keys);
  else if (selector.is === 'and' || selector.is === 'or') for (const part of selector.of) collect(part, keys);
}
