/**
 * The order of a list: each resource after those that it needs, in as few calls as possible. Pure; linear in the list
 * and in what its resources need.
 */
import { PodwireError } from '@podwire/errors';
import type { Batch, Resource } from './contract.js';
import type { KindRegistry } from './registry.js';

/** Resources that travel together wherever they may: they share backend, batch and place. */
interface Sort {
  readonly backend: string;
  readonly name: string;
  readonly place: string;
  /** In the list's order, without those that have left. */
  waiting: Item[];
  /** How many needs of its members lie in other sorts. */
  foreignNeeds: number;
}

interface Item {
  readonly resource: Resource;
  readonly index: number;
  readonly sort: Sort;
  readonly needed: Item[];
  readonly users: Item[];
  /** How many of {@link needed} have not gone before it yet. */
  needs: number;
}

/**
 * Cuts a list into batches, in an order in which each resource comes after those that it needs (`Kind.after`). The
 * list's order stands otherwise, but for resources that join an earlier batch of their sort: a call costs more than what
 * is in it. `single` gives every resource a batch of its own: fault tests end the process in between.
 * @throws PodwireError RESOURCE_CIRCLE when resources need each other in a circle
 */
export function planBatches(kinds: KindRegistry, resources: readonly Resource[], single = false): Batch[] {
  const batches = cut(kinds, sortItems(kinds, resources));
  if (!single) return batches;
  return batches.flatMap((batch) => batch.resources.map((resource) => ({ ...batch, resources: [resource] })));
}

/** The list in the order in which the engine makes it, for records and screens: see {@link planBatches}. */
export function inApplyOrder(kinds: KindRegistry, resources: readonly Resource[]): Resource[] {
  return planBatches(kinds, resources).flatMap((batch) => batch.resources);
}

function sortItems(kinds: KindRegistry, resources: readonly Resource[]): Sort[] {
  const sorts = new Map<string, Sort>();
  const items = resources.map((resource, index): Item => {
    const sort = sortOf(kinds, sorts, resource);
    const item = { resource, index, sort, needed: [], users: [], needs: 0 };
    sort.waiting.push(item);
    return item;
  });
  connect(kinds, items);
  return [...sorts.values()];
}

/** The name of all that travels together: `rtnetlink/entries/pod`. */
export function nameSort(kinds: KindRegistry, resource: Resource): string {
  const kind = kinds.of(resource);
  return nameOf(kind.backend, kind.batch, kind.place(resource));
}

export const nameSortOf = ({ backend, name, place }: Batch): string => nameOf(backend, name, place);

const nameOf = (backend: string, batch: string, place: string): string => `${backend}/${batch}/${place}`;

function sortOf(kinds: KindRegistry, sorts: Map<string, Sort>, resource: Resource): Sort {
  const kind = kinds.of(resource);
  const [{ backend, batch: name }, place] = [kind, kind.place(resource)];
  const key = nameOf(backend, name, place);
  const known = sorts.get(key);
  if (known !== undefined) return known;
  const sort = { backend, name, place, waiting: [], foreignNeeds: 0 };
  sorts.set(key, sort);
  return sort;
}

/** A need that nothing of the list meets is there already, or is not wanted. */
function connect(kinds: KindRegistry, items: readonly Item[]): void {
  if (items.length < 2) return;
  const byKey = new Map<string, Item>();
  for (const item of items) for (const key of kinds.carriedBy(item.resource)) byKey.set(key, item);
  for (const item of items) {
    for (const key of kinds.needsOf(item.resource)) {
      const needed = byKey.get(key);
      if (needed === undefined || needed === item) continue;
      item.needed.push(needed);
      needed.users.push(item);
      item.needs += 1;
      if (needed.sort !== item.sort) item.sort.foreignNeeds += 1;
    }
  }
}

function cut(kinds: KindRegistry, sorts: readonly Sort[]): Batch[] {
  const batches: Batch[] = [];
  for (;;) {
    const left = sorts.filter(({ waiting }) => waiting.length > 0);
    if (left.length === 0) return batches;
    const next = chooseSort(left);
    if (next === undefined) throw circleIn(kinds, left[0]!.waiting[0]!);
    const { backend, name, place } = next;
    batches.push({ backend, name, place, resources: takeReady(next) });
  }
}

/**
 * The sort that comes first in the list of those that can go as a whole; if none can, of those that can begin with their
 * first resource; if none can, of those that can begin at all.
 */
function chooseSort(sorts: readonly Sort[]): Sort | undefined {
  const whole = sorts.filter(({ foreignNeeds }) => foreignNeeds === 0);
  const inOrder = sorts.filter(({ waiting }) => waiting[0]!.needs === 0);
  return earliest(whole) ?? earliest(inOrder) ?? earliest(sorts);
}

function earliest(sorts: readonly Sort[]): Sort | undefined {
  let first: Sort | undefined;
  let index = Infinity;
  for (const sort of sorts) {
    const ready = sort.waiting.find(({ needs }) => needs === 0);
    if (ready === undefined || ready.index >= index) continue;
    [first, index] = [sort, ready.index];
  }
  return first;
}

/** Nothing overtakes another one of its sort, unless that waits for it. */
function takeReady(sort: Sort): Resource[] {
  const taken = takePrefix(sort);
  if (taken.length > 0 && sort.foreignNeeds > 0) return taken;
  while (sort.waiting.length > 0) {
    const found = [...takeAnyReady(sort), ...takePrefix(sort)];
    if (found.length === 0) break;
    taken.push(...found);
  }
  return taken;
}

function takePrefix(sort: Sort): Resource[] {
  const blocked = sort.waiting.findIndex((item) => !tryRelease(item));
  return sort.waiting.splice(0, blocked < 0 ? sort.waiting.length : blocked).map(({ resource }) => resource);
}

function takeAnyReady(sort: Sort): Resource[] {
  const ready = sort.waiting.filter((item) => tryRelease(item));
  const taken = new Set(ready);
  sort.waiting = sort.waiting.filter((item) => !taken.has(item));
  return ready.map(({ resource }) => resource);
}

/** Lets go what waits for it. @returns false when it waits itself */
function tryRelease(item: Item): boolean {
  if (item.needs > 0) return false;
  for (const user of item.users) {
    user.needs -= 1;
    if (user.sort !== item.sort) user.sort.foreignNeeds -= 1;
  }
  return true;
}

/** Everything that is left waits for something that is left: the way from need to need ends in a circle. */
function circleIn(kinds: KindRegistry, start: Item): PodwireError {
  const way: Item[] = [];
  let item = start;
  while (!way.includes(item)) {
    way.push(item);
    item = item.needed.find(({ needs }) => needs > 0)!;
  }
  const circle = way.slice(way.indexOf(item)).map(({ resource }) => kinds.describe(resource));
  const [first, ...others] = [...circle, circle[0]];
  const message = `${first} needs ${others.join(', which needs ')}: none of them can come first`;
  return new PodwireError('RESOURCE_CIRCLE', message, { details: { circle } });
}
