import { setImmediate } from 'node:timers/promises';
import { hasCode } from '@podwire/linux';
import { type Element, parseBody, type SetReference } from '@podwire/nftables';
import type { EngineContext } from './context.js';
import { elementKey } from './observe.js';
import { attempt, type Pruned } from './pruned.js';
import type { NftElement, NftTable, Resource } from './resource.js';

/** Elements of Podwire's sets that nobody wants. */
export async function pruneElements(
  context: EngineContext,
  tables: readonly NftTable[],
  resources: readonly Resource[],
): Promise<Pruned[]> {
  const wanted = new Map<string, Set<string>>();
  for (const resource of resources) if (resource.kind === 'nft-element') note(wanted, resource);
  const pruned: Pruned[] = [];
  for (const { family, name: table, body } of tables) {
    for (const set of managedSets(body)) {
      const place = { family, table, set };
      const keys = wanted.get(nameOf(place));
      const leftovers = listElements(context, place).filter((element) => !keys?.has(elementKey(element)));
      pruned.push(...(await destroyAll(context, place, leftovers)));
    }
  }
  return pruned;
}

const nameOf = ({ family, table, set }: SetReference): string => `${family} ${table} ${set}`;

function note(wanted: Map<string, Set<string>>, element: NftElement): void {
  const keys = wanted.get(nameOf(element)) ?? new Set();
  wanted.set(nameOf(element), keys.add(elementKey(element)));
}

/** Elements in one transaction. */
const BATCH = 512;

async function destroyAll(
  context: EngineContext,
  place: SetReference,
  leftovers: readonly Element[],
): Promise<Pruned[]> {
  const pruned: Pruned[] = [];
  for (let at = 0; at < leftovers.length; at += BATCH) {
    pruned.push(...destroy(context, place, leftovers.slice(at, at + BATCH)));
    await setImmediate();
  }
  return pruned;
}

/** A transaction is carried out whole or not at all: when it is refused, each element gets one of its own. */
function destroy(context: EngineContext, place: SetReference, elements: readonly Element[]): Pruned[] {
  const inWords = elements.map((element) => `element ${elementKey(element)} of set ${place.set}`);
  const [together] = attempt(context, inWords[0]!, () =>
    context.kernel.nftables.change(elements.map(({ key }) => ({ op: 'destroy', ...place, key }))),
  );
  if (together === undefined) return [];
  if (together.error === undefined) return inWords.map((what) => ({ what }));
  if (elements.length === 1) return [together];
  return elements.flatMap((element) => destroy(context, place, [element]));
}

/** Sets whose elements stand in the declaration itself (pools, say), or that packets fill, are the table's own business. */
function managedSets(body: string): string[] {
  return parseBody(body)
    .filter(({ kind, text }) => (kind === 'set' || kind === 'map') && !/\b(elements|dynamic)\b/.test(text))
    .map(({ name }) => name);
}

function listElements(context: EngineContext, { family, table, set }: SetReference): Element[] {
  try {
    return context.kernel.nftables.listElements(family, table, set);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
