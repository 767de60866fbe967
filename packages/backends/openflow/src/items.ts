/** Flows, groups and meters, wanted or found, in the form in which the switch returns them: equal items are equal data. */
import { isDeepStrictEqual } from 'node:util';
import type { Difference, Resource } from '@podwire/engine';
import {
  addFlow,
  addGroup,
  addMeter,
  decodeMessage,
  encodeMessage,
  type Flow,
  formatMatch,
  type Group,
  type Message,
  type Meter,
} from '@podwire/openflow';
import { groupKey, meterKey } from './keys.js';
import { cookieOf, isOurCookie, isOurGroup, isOurMeter, markBuckets } from './marks.js';
import type { FlowGroup, FlowMeter, FlowResources, SwitchFlow } from './resources.js';

/** A flow with what is usual written out. */
export type FullFlow = Flow & Required<Pick<Flow, 'table' | 'priority' | 'match'>>;

interface Common {
  readonly key: string;
  /** In words. */
  readonly what: string;
  readonly isOurs: boolean;
  /** The reason why a wanted one cannot be sent to any switch. */
  readonly refused?: Error;
}

export interface FlowItem extends Common {
  readonly sort: 'flow';
  readonly data: FullFlow;
}

export interface GroupItem extends Common {
  readonly sort: 'group';
  readonly data: Group;
}

export interface MeterItem extends Common {
  readonly sort: 'meter';
  readonly data: Meter;
}

export type Item = FlowItem | GroupItem | MeterItem;

export function flowItem(bridge: string, flow: Flow): FlowItem {
  const data = flow as FullFlow;
  const { table, priority, match, cookie } = data;
  const key = `flow ${bridge}/${table}/${priority}/${JSON.stringify(match)}`;
  return {
    ...{ sort: 'flow', key, isOurs: isOurCookie(cookie), data },
    // Of thousands that are looked at few are described.
    get what() {
      const terms = [`table=${table}`, `priority=${priority}`, formatMatch(match)];
      return `flow ${terms.filter((term) => term !== '').join(',')} on ${bridge}`;
    },
  };
}

export const groupItem = (bridge: string, data: Group): GroupItem => ({
  ...{ sort: 'group', key: groupKey(bridge, data.id), what: `group ${data.id} on ${bridge}` },
  ...{ isOurs: isOurGroup(data), data },
});

export const meterItem = (bridge: string, meter: Meter): MeterItem => ({
  ...{ sort: 'meter', key: meterKey(bridge, meter.id), what: `meter ${meter.id} on ${bridge}` },
  ...{ isOurs: isOurMeter(meter.id), data: withoutDefaults(meter) },
});

/** The userspace datapath of Open vSwitch shows the rate as the burst of a meter without one. */
const withoutDefaults = (meter: Meter): Meter =>
  meter.burst ? meter : { ...meter, bands: meter.bands.map(({ rate }) => ({ rate })) };

type FlowResource = FlowResources[keyof FlowResources];

const known = new WeakMap<Resource, Item>();

/** The item that a resource asks for. Resources are data that do not change, so it is made once. */
export function itemOf(resource: FlowResource): Item {
  const found = known.get(resource);
  if (found !== undefined) return found;
  const item = makeItem(resource);
  known.set(resource, item);
  return item;
}

function makeItem(resource: FlowResource): Item {
  switch (resource.kind) {
    case 'flow':
      return canonicalItem(resource.bridge, flowOf(resource), addFlow, flowItem);
    case 'flow-group':
      return canonicalItem(resource.bridge, groupOf(resource), addGroup, groupItem);
    case 'flow-meter':
      return canonicalItem(resource.bridge, meterOf(resource), addMeter, meterItem);
  }
}

function flowOf({ kind: _, bridge: _bridge, onlyWith: _with, mark = 0, ...flow }: SwitchFlow): FullFlow {
  return { ...flow, cookie: cookieOf(mark) };
}

const groupOf = ({ id, type, buckets }: FlowGroup): Group => ({ id, type, buckets: markBuckets(buckets) });

const meterOf = ({ id, unit, bands }: FlowMeter): Meter => ({
  ...{ id, unit, statistics: true, bands },
  ...(bands.some(({ burst }) => burst !== undefined) ? { burst: true } : {}),
});

/** As the switch reads it: what was sent is what comes back. */
function canonicalItem<T>(
  bridge: string,
  data: T,
  add: (data: T) => Message,
  make: (bridge: string, data: T) => Item,
): Item {
  try {
    const { message } = decodeMessage(encodeMessage({ xid: 0, message: add(data) }));
    return make(bridge, contentOf(message) as T);
  } catch (error) {
    return { ...make(bridge, data), refused: error as Error };
  }
}

function contentOf(message: Message): Flow | Group | Meter | undefined {
  if (message.type === 'flow_mod') return message.flow;
  if (message.type === 'group_mod') return message.group;
  return message.type === 'meter_mod' ? message.meter : undefined;
}

/** Pure. */
export function compareItems(wanted: Item, found: Item | undefined): Difference | undefined {
  if (found === undefined) return { missing: `there is no ${wanted.what}` };
  if (!found.isOurs) return { foreign: `${wanted.what} is not ours`, code: 'FLOW_TAKEN' };
  if (isDeepStrictEqual(wanted.data, found.data)) return undefined;
  const [is, should] = [found.data, wanted.data].map((data) => data as unknown as Record<string, unknown>);
  const names = Object.keys({ ...is, ...should });
  const name = names.find((one) => !isDeepStrictEqual(is![one], should![one]))!;
  return `${wanted.what}: ${name} is ${JSON.stringify(is![name] ?? null)}`;
}
