/** The steps of a change, in order. Pure. */
import { groupBy } from '@podwire/platform';
import type { Batch, Resource } from './contract.js';
import type { ChangeSet, Drift } from './engine.js';
import { nameSort, nameSortOf, planBatches } from './order.js';
import type { KindRegistry } from './registry.js';
import { planRemoval } from './steps.js';

/** One call of a backend. */
export interface Step {
  readonly action: 'remove' | 'add' | 'replace' | 'exchange' | 'repair';
  /** Everything that is removed; of other steps everything that is there afterwards. */
  readonly batch: Batch;
  /** The content that was there before at the same keys, as far as it is known. */
  readonly before: readonly Resource[];
  /** Of an exchange or a repair: those of its batch that take nothing's place. */
  readonly fresh: readonly Resource[];
  /** Of an exchange: everything that is not there afterwards. */
  readonly gone: readonly Resource[];
}

/** A change in steps. */
export interface PlannedChange {
  readonly steps: readonly Step[];
  /** Everything that steps of removal take away, also what goes with something else. */
  readonly removed: readonly Resource[];
}

/**
 * Removal first, since a thing that comes may take the room of one that goes. Then everything that comes or changes, in
 * order. Where a backend has transactions, all that happens in one of them is one step.
 */
export function planChange(kinds: KindRegistry, change: ChangeSet, single: boolean): PlannedChange {
  const { remove = [], replace = [], add = [] } = change;
  // An ADD: nothing can be exchanged, so no key need be compared.
  if (remove.length + replace.length === 0)
    return { steps: planBatches(kinds, add, single).map((batch) => stepOf('add', batch)), removed: [] };
  const parts = sortOut(kinds, change);
  const exchanged = exchangedSorts(kinds, parts);
  const isExchanged = (one: Resource): boolean => exchanged.has(nameSort(kinds, one));
  const removed = parts.gone.filter((one) => !isExchanged(one));
  const removals = planRemoval(kinds, removed, single).map((batch) => stepOf('remove', batch));
  const coming = joinExchanged(planBatches(kinds, parts.coming, single), exchanged);
  const steps = coming.flatMap((batch): Step[] =>
    exchanged.has(nameSortOf(batch))
      ? [exchangeOf(kinds, batch, parts)]
      : splitByAction(batch, parts.changed),
  );
  return { steps: [...removals, ...steps], removed };
}

const stepOf = (action: Step['action'], batch: Batch): Step => ({
  ...{ action, batch, before: [], fresh: [], gone: [] },
});

/**
 * Puts what differs in the place of what is there, and makes what is missing. Each step does what it can of its batch, also
 * where the backend has transactions: one thing that is refused keeps no other from being put right.
 */
export function planRepair(kinds: KindRegistry, drifts: readonly Drift[], single: boolean): Step[] {
  const missing = new Set(drifts.filter(({ state }) => state === 'missing').map(({ resource }) => resource));
  const drifted = drifts.map(({ resource }) => resource);
  return planBatches(kinds, drifted, single).map((batch) => ({
    ...stepOf('repair', batch),
    fresh: batch.resources.filter((one) => missing.has(one)),
  }));
}

/** The change that undoes these steps. Content that was replaced unseen cannot be put back: the new one stays. */
export function invertChange(
  kinds: KindRegistry,
  { replace = [] }: ChangeSet,
  { removed }: PlannedChange,
  done: readonly Step[],
): ChangeSet {
  const come = done.flatMap(({ action, batch }) => (action === 'remove' ? [] : batch.resources));
  const before = done.flatMap((step) => step.before);
  const isKnown = new Set(before.map(kinds.keyOf));
  const unseen = new Set(replace.filter((one) => !isKnown.has(kinds.keyOf(one))));
  const hasRemoved = done.some(({ action }) => action === 'remove');
  return {
    remove: come.filter((one) => !unseen.has(one)),
    add: [...before, ...(hasRemoved ? removed : []), ...done.flatMap(({ gone }) => gone)],
  };
}

interface Parts {
  /** Everything that is there afterwards, in the caller's order. */
  readonly coming: readonly Resource[];
  /** Those of it that take the place of something, and its content, as far as it is known. */
  readonly changed: ReadonlyMap<Resource, readonly Resource[]>;
  readonly gone: readonly Resource[];
}

/** Content that cannot change in place goes before the new one comes, where it is known: traffic has a gap then. */
function sortOut(kinds: KindRegistry, { remove = [], replace = [], add = [] }: ChangeSet): Parts {
  const removed = groupBy(remove, kinds.keyOf);
  const coming = new Set([...add, ...replace].map(kinds.keyOf));
  const before = (one: Resource): readonly Resource[] => removed.get(kinds.keyOf(one)) ?? [];
  const isChanged = (one: Resource): boolean => {
    const { inPlace, transactional } = kinds.of(one);
    return before(one).length === 0 || inPlace || transactional === true;
  };
  const replaced = [...replace, ...add.filter((one) => before(one).length > 0)];
  const changed = replaced.filter(isChanged);
  const gaps = replaced.filter((one) => !isChanged(one));
  return {
    coming: [...replace, ...add],
    changed: new Map(changed.map((one) => [one, before(one)])),
    gone: [...remove.filter((one) => !coming.has(kinds.keyOf(one))), ...gaps.flatMap(before)],
  };
}

/** Sorts in which something comes while something else goes or changes, in backends that have transactions. */
function exchangedSorts(kinds: KindRegistry, { coming, changed, gone }: Parts): ReadonlySet<string> {
  const transactional = (resources: Iterable<Resource>): Set<string> =>
    new Set(
      [...resources].filter((one) => kinds.of(one).transactional === true).map((one) => nameSort(kinds, one)),
    );
  const [come, change, go] = [coming, changed.keys(), gone].map(transactional);
  return new Set([...change!, ...[...come!].filter((sort) => go!.has(sort))]);
}

/** All of a sort, where the last of it stands. */
function joinExchanged(batches: readonly Batch[], exchanged: ReadonlySet<string>): Batch[] {
  const bySort = groupBy(batches, nameSortOf);
  return batches.flatMap((batch) => {
    const all = bySort.get(nameSortOf(batch))!;
    if (!exchanged.has(nameSortOf(batch))) return [batch];
    return batch === all.at(-1) ? [{ ...batch, resources: all.flatMap(({ resources }) => resources) }] : [];
  });
}

function exchangeOf(kinds: KindRegistry, batch: Batch, { changed, gone }: Parts): Step {
  return {
    ...{ action: 'exchange', batch },
    before: batch.resources.flatMap((one) => changed.get(one) ?? []),
    fresh: batch.resources.filter((one) => !changed.has(one)),
    gone: gone.filter((one) => nameSort(kinds, one) === nameSortOf(batch)),
  };
}

/** Neighbours of one action. */
function splitByAction(batch: Batch, changed: Parts['changed']): Step[] {
  const runs: { action: 'add' | 'replace'; resources: Resource[] }[] = [];
  for (const resource of batch.resources) {
    const action = changed.has(resource) ? 'replace' : 'add';
    const last = runs.at(-1);
    if (last?.action === action) last.resources.push(resource);
    else runs.push({ action, resources: [resource] });
  }
  return runs.map(({ action, resources }) => ({
    ...stepOf(action, { ...batch, resources }),
    before: resources.flatMap((one) => changed.get(one) ?? []),
  }));
}
