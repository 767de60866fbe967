import type { Kind } from '@podwire/engine';
import * as is from '@podwire/engine/checks';
import type { Action } from '@podwire/openflow';
import { compareItems, type Item, itemOf } from './items.js';
import { bridgeKey, FIRST_METER, groupKey, LAST_METER, meterKey } from './keys.js';
import type { FlowGroup, FlowMeter, FlowResources, SwitchFlow } from './resources.js';

export const OPENFLOW = 'openflow';

/** Everything on a bridge travels in one bundle. */
const BATCH = 'flows';

export const placeOf = (bridge: string): string => `bridge ${bridge}`;

type FlowResource = FlowResources[keyof FlowResources];
type FlowKind<R extends FlowResource> = Kind<R, Item | undefined>;

const define = <R extends FlowResource>(
  kind: R['kind'],
  check: is.Check,
  after: (resource: R) => readonly string[],
): FlowKind<R> => ({
  ...{ kind, backend: OPENFLOW, batch: BATCH },
  ...{ inPlace: true, transactional: true, independent: true },
  place: ({ bridge }) => placeOf(bridge),
  key: (resource) => itemOf(resource).key,
  describe: (resource) => itemOf(resource).what,
  after: (resource) => [bridgeKey(resource.bridge), ...after(resource)],
  check: (value) => check(value) ?? itemOf(value as R).refused?.message,
  compare: (resource, found) => compareItems(itemOf(resource), found),
});

const bridge = is.textLike((value) => /^[^/\s]{1,15}$/.test(value), 'no name of a bridge');
const object = is.record({});
const actions = is.optional(is.listOf(object));
const isTrue = is.optional(is.rule((value) => value === true, 'not true'));

const plainFlow = define<SwitchFlow>(
  'flow',
  is.resource<SwitchFlow>({
    ...{ bridge, table: is.numberUpTo(253), priority: is.numberUpTo(65_535), match: object },
    ...{ mark: is.optional(is.numberUpTo(0xffff_ffff)), meter: is.optional(is.count) },
    ...{ actions, clear: isTrue, write: actions, metadata: is.optional(is.text) },
    ...{ goto: is.optional(is.numberUpTo(253)), onlyWith: is.optional(is.listOf(is.text)) },
  }),
  ({ bridge: of, meter, actions: list = [], write = [], onlyWith = [] }) => [
    ...onlyWith,
    ...[...list, ...write].flatMap(groupsOf).map((id) => groupKey(of, id)),
    ...(meter === undefined ? [] : [meterKey(of, meter)]),
  ],
);

const flow: FlowKind<SwitchFlow> = { ...plainFlow, onlyWith: ({ onlyWith = [] }) => onlyWith };

const groupsOf = (action: Action): readonly number[] => {
  if (action.type === 'clone') return action.actions.flatMap(groupsOf);
  return action.type === 'group' ? [action.group] : [];
};

const group = define<FlowGroup>(
  'flow-group',
  is.resource<FlowGroup>({
    ...{ bridge, id: is.numberUpTo(0xffff_feff) },
    type: is.oneOf('all', 'select', 'indirect', 'fast_failover'),
    buckets: is.listOf(is.record({ actions: is.listOf(object) }), 1),
  }),
  ({ bridge: of, buckets }) => {
    const watched = buckets.flatMap(({ watchGroup }) => watchGroup ?? []);
    return [...buckets.flatMap((one) => one.actions.flatMap(groupsOf)), ...watched].map((id) =>
      groupKey(of, id),
    );
  },
);

const isOurNumber = (value: unknown): boolean => Number(value) >= FIRST_METER && Number(value) <= LAST_METER;
const amount = is.rule(
  (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 32,
  'no number of 1 to 4294967295',
);
const band = is.record({ rate: amount, burst: is.optional(amount) });
/** A flag of the meter says whether its bands have a burst. */
const bands: is.Check = (value) => {
  const problem = is.listOf(band, 1)(value);
  if (problem !== undefined) return problem;
  const having = (value as FlowMeter['bands']).filter(({ burst }) => burst !== undefined).length;
  return having === 0 || having === (value as unknown[]).length
    ? undefined
    : 'some have a burst, and some have none';
};

const meter = define<FlowMeter>(
  'flow-meter',
  is.resource<FlowMeter>({
    bridge,
    id: is.rule((value) => Number.isInteger(value) && isOurNumber(value), 'no number of 28672 to 32767'),
    unit: is.oneOf('kbps', 'pktps'),
    bands,
  }),
  () => [],
);

/** Every kind, by name. */
export const flowKinds = { flow, 'flow-group': group, 'flow-meter': meter } satisfies {
  [K in keyof FlowResources]: FlowKind<FlowResources[K]>;
};
