/** The changes of one call, for one bridge. Pure over what was found there. */
import { isDeepStrictEqual } from 'node:util';
import {
  addFlow,
  addGroup,
  addMeter,
  type Change,
  deleteFlow,
  deleteGroup,
  deleteMeter,
  type MeterMod,
  modifyGroup,
  modifyMeter,
} from '@podwire/openflow';
import { FlowError, takenError } from './errors.js';
import type { FlowItem, GroupItem, Item, MeterItem } from './items.js';
import { OUR_COOKIES } from './marks.js';
import type { View } from './view.js';

/** Something to do with one item; `S` is what the caller knows it by. */
export interface Step<S = unknown> {
  readonly action: 'add' | 'replace' | 'remove';
  readonly item: Item;
  readonly subject: S;
}

export interface StepFailure<S = unknown> {
  readonly step: Step<S>;
  readonly error: unknown;
}

export interface Planned<S, Request> {
  readonly step: Step<S>;
  readonly request: Request;
}

export interface Plan<S = unknown> {
  /** Meters that come or change, before the bundle: a flow needs its meter. */
  readonly metersFirst: readonly Planned<S, MeterMod>[];
  /** Takes {@link metersFirst} back, in order. */
  readonly metersBack: readonly MeterMod[];
  readonly bundle: readonly Planned<S, Change>[];
  /** Meters that go, after the bundle: the switch deletes the flows of a meter with it. */
  readonly metersLast: readonly Planned<S, MeterMod>[];
  /** Steps that cannot be taken; with one of them the rest is good for nothing. */
  readonly failures: readonly StepFailure<S>[];
}

/** Steps that cannot be taken. */
export const findObstacles = <S>(view: View, steps: readonly Step<S>[]): StepFailure<S>[] =>
  steps.flatMap((step) => {
    const error = findObstacle(view, step);
    return error === undefined ? [] : [{ step, error }];
  });

/** Flows that come or go: their requests are the same whatever a look finds, unless it finds an obstacle. */
export const areForeseen = (steps: readonly Step[]): boolean =>
  steps.every(
    ({ action, item }) => item.sort === 'flow' && action !== 'replace' && item.refused === undefined,
  );

export function planChanges<S>(view: View, steps: readonly Step<S>[]): Plan<S> {
  const failures = findObstacles(view, steps);
  const due = steps.filter(({ action, item }) => isDue(action, item, view.items.get(item.key)));
  const coming = due.filter(({ action }) => action !== 'remove');
  const going = due.filter(({ action }) => action === 'remove');
  const metersFirst = coming.flatMap((step) => plan(step, 'meter', (item) => putMeter(view, item)));
  return {
    metersFirst,
    metersBack: metersFirst.map(({ step }) => takeBack(view, step.item as MeterItem)).reverse(),
    bundle: [
      ...coming.flatMap((step) => plan(step, 'group', (item) => putGroup(view, item))),
      ...going.flatMap((step) => plan(step, 'flow', removeFlow)),
      ...coming.flatMap((step) => plan(step, 'flow', ({ data }) => addFlow(data))),
      ...going.flatMap((step) => plan(step, 'group', ({ data }) => deleteGroup(data.id))),
    ],
    metersLast: going.flatMap((step) => plan(step, 'meter', ({ data }) => deleteMeter(data.id))),
    failures,
  };
}

type Sorted<Sort extends Item['sort']> = Extract<Item, { readonly sort: Sort }>;

const plan = <S, Sort extends Item['sort'], Request>(
  step: Step<S>,
  sort: Sort,
  requestFor: (item: Sorted<Sort>) => Request,
): Planned<S, Request>[] =>
  step.item.sort === sort ? [{ step, request: requestFor(step.item as Sorted<Sort>) }] : [];

/** Only groups: a flow goes by its cookie, and a meter by its number, where it is ours. */
export const needsLook = ({ action, item }: Step): boolean => action !== 'remove' || item.sort === 'group';

/** Nothing is written where nothing differs; what no switch takes is nowhere. */
function isDue(action: Step['action'], wanted: Item, found: Item | undefined): boolean {
  if (wanted.refused !== undefined) return false;
  if (action === 'remove') return wanted.sort !== 'group' || found?.isOurs === true;
  return found === undefined || !isDeepStrictEqual(found.data, wanted.data);
}

function findObstacle(view: View, { action, item }: Step): Error | undefined {
  const found = view.items.get(item.key);
  if (action === 'remove') return found?.isOurs === true ? findUser(view, item) : undefined;
  if (item.refused !== undefined) return item.refused;
  if (found === undefined) return undefined;
  if (!found.isOurs) return takenError(`there is a ${item.what} that is not ours`);
  return action === 'add' ? new FlowError(`there is a ${item.what} already`) : undefined;
}

/** The switch deletes the flows that send to a group with it, also those of others. */
function findUser(view: View, { sort, data, what }: Item): Error | undefined {
  if (sort !== 'group') return undefined;
  const user = view.usersOf(data.id).find(({ isOurs }) => !isOurs);
  return user && takenError(`${user.what}, which is not ours, sends to ${what}`);
}

const putGroup = (view: View, { key, data }: GroupItem): Change =>
  view.items.has(key) ? modifyGroup(data) : addGroup(data);

const putMeter = (view: View, { key, data }: MeterItem): MeterMod =>
  view.items.has(key) ? modifyMeter(data) : addMeter(data);

function takeBack(view: View, { key, data }: MeterItem): MeterMod {
  const before = view.items.get(key) as MeterItem | undefined;
  return before === undefined ? deleteMeter(data.id) : modifyMeter(before.data);
}

/** Not where another program has put its own flow in the place of ours meanwhile. */
const removeFlow = ({ data }: FlowItem): Change => ({ ...deleteFlow(data), cookieFilter: OUR_COOKIES });
