import type { TestNamespace } from '../namespaces.js';
import { canonical, without } from './keyed.js';

type Row = Readonly<Record<string, unknown>>;

/** The whole ruleset: tables, chains and rules in their order, sets and maps with sorted elements. */
export async function readRuleset(namespace: TestNamespace): Promise<Record<string, unknown>> {
  const output = await namespace.run(['nft', '-j', 'list', 'ruleset']);
  const { nftables } = JSON.parse(output) as { nftables: Record<string, Row>[] };
  const result: Record<string, unknown> = {};
  const rules = new Map<string, number>();
  for (const [kind, row] of nftables.flatMap((entry) => Object.entries(entry))) {
    if (kind === 'metainfo') continue;
    const key = keyOf(kind, row);
    const number = rules.get(key) ?? 0;
    rules.set(key, number + 1);
    result[kind === 'rule' ? `${key} ${number}` : key] = describe(row);
  }
  return result;
}

function keyOf(kind: string, row: Row): string {
  const parts =
    kind === 'rule'
      ? [row['family'], row['table'], row['chain']]
      : [row['family'], row['table'], row['name']];
  return [kind, ...parts.filter((part) => typeof part === 'string')].join(' ');
}

function describe(row: Row): unknown {
  const plain = without(row, (key) => key === 'handle' || key === 'expires') as Record<string, unknown>;
  const cleaned = withoutCounts(plain) as Record<string, unknown>;
  const { elem: elements, ...rest } = cleaned;
  if (!Array.isArray(elements)) return cleaned;
  // Elements that packets put into a set come and go with them.
  if (Array.isArray(cleaned['flags']) && cleaned['flags'].includes('dynamic')) return rest;
  return { ...cleaned, elem: elements.map(canonical).sort() };
}

/** A counter stays as `counter`, without what it has counted. */
function withoutCounts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCounts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === 'counter' ? true : withoutCounts(inner)]),
  );
}
