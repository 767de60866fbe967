/** Random pipelines and packets of few values, so that packets meet flows. */
import fc from 'fast-check';
import type { Action, Flow, Group, Match } from '@podwire/openflow';
import type { PacketFields } from '@podwire/openflow/fake';

const TABLES = 5;

const port = fc.integer({ min: 1, max: 5 });
const small = fc.integer({ min: 0, max: 3 });
const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3');
const mac = fc.constantFrom('02:00:00:00:00:01', '02:00:00:00:00:02');
const register = fc.constantFrom('reg0' as const, 'reg1' as const, 'reg2' as const);

const part = <T extends object>(values: fc.Arbitrary<T>): fc.Arbitrary<Partial<T>> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: values });

const kind: fc.Arbitrary<Match> = fc.constantFrom<Match[]>(
  {},
  { eth_type: 0x0800 },
  { eth_type: 0x0800, ip_proto: 6 },
  { eth_type: 0x0800, ip_proto: 17 },
  { eth_type: 0x0806 },
);

/** The fields that go with a kind of packets. */
function detailsOf({ eth_type: etherType, ip_proto: protocol }: Match): fc.Arbitrary<Match> {
  if (etherType === 0x0806) return part(fc.record({ arp_op: fc.integer({ min: 1, max: 2 }) }));
  if (etherType !== 0x0800) return fc.constant({});
  const destination = fc.oneof(address, fc.constant('10.0.0.2/31'));
  const l3 = fc.tuple(part(fc.record({ ip_src: address })), part(fc.record({ ip_dst: destination })));
  const tcp = protocol === 6 ? part(fc.record({ tcp_dst: small })) : fc.constant({});
  return fc.tuple(l3, tcp).map(([[source, target], ports]) => ({ ...source, ...target, ...ports }));
}

const states = fc.constantFrom('+trk', '-trk', '+new+trk', '+est+trk', '-new+trk');
const common: fc.Arbitrary<Match> = fc
  .tuple(
    part(fc.record({ in_port: port })),
    part(fc.record({ reg0: fc.oneof(small, fc.constantFrom('0x1/0x1', '0x0/0x2')) })),
    part(fc.record({ reg1: small })),
    part(fc.record({ metadata: fc.constantFrom('0x1', '0x0/0x1') })),
    part(fc.record({ vlan_vid: fc.constantFrom(0, 0x1001, '0x1000/0x1000') })),
    part(fc.record({ ct_state: states })),
  )
  .map((parts) => Object.assign({}, ...parts) as Match);

const match: fc.Arbitrary<Match> = fc
  .tuple(kind, common)
  .chain(([selected, shared]) =>
    detailsOf(selected).map((details) => ({ ...shared, ...selected, ...details })),
  );

const later = (table: number): fc.Arbitrary<number> => fc.integer({ min: table + 1, max: TABLES });

const always: fc.Arbitrary<Action> = fc.oneof(
  port.map((number): Action => ({ type: 'output', port: number })),
  fc.constantFrom<Action[]>(
    { type: 'output', port: 'IN_PORT' },
    { type: 'output', port: 'LOCAL' },
    { type: 'output', port: 'FLOOD' },
    { type: 'output', port: 77 },
    { type: 'output_field', from: { field: 'reg2' } },
    { type: 'output_field', from: { field: 'reg0', start: 0, bits: 2 } },
    { type: 'push_vlan', etherType: 0x8100 },
    { type: 'pop_vlan' },
    { type: 'dec_ttl' },
    { type: 'ct_clear' },
    { type: 'push', from: { field: 'reg0' } },
    { type: 'pop', to: { field: 'reg1', start: 0, bits: 2 } },
    { type: 'set_field', field: 'vlan_vid', value: 0x1001 },
    { type: 'set_field', field: 'tcp_dst', value: 2 },
    { type: 'move', from: { field: 'ip_src', start: 0, bits: 2 }, to: { field: 'reg1', start: 0, bits: 2 } },
    { type: 'move', from: { field: 'reg0' }, to: { field: 'reg2' } },
    { type: 'move', from: { field: 'in_port_nxm' }, to: { field: 'reg2', start: 0, bits: 16 } },
    { type: 'load', value: 3, to: { field: 'in_port_nxm' } },
    { type: 'load', value: 0, to: { field: 'in_port_nxm' } },
    { type: 'load', value: 1, to: { field: 'metadata', start: 0, bits: 1 } },
    { type: 'load', value: 0x5_0000_0001, to: { field: 'xreg0' } },
  ),
  fc.tuple(small, register).map(([value, field]): Action => ({ type: 'load', value, to: { field } })),
  address.map((value): Action => ({ type: 'set_field', field: 'ip_dst', value })),
  mac.map((value): Action => ({ type: 'set_field', field: 'eth_dst', value })),
  fc.integer({ min: 1, max: 4 }).map((group): Action => ({ type: 'group', group })),
);

const ahead = (table: number): fc.Arbitrary<Action> =>
  fc.oneof(
    later(table).map((next): Action => ({ type: 'resubmit', table: next })),
    fc
      .tuple(port, later(table))
      .map(([number, next]): Action => ({ type: 'resubmit', port: number, table: next })),
    fc.tuple(later(table), small, fc.boolean()).map(([next, zone, commit]): Action => ({
      type: 'ct',
      table: next,
      zone,
      ...(commit ? { commit } : {}),
    })),
  );

const actionsFor = (table: number): fc.Arbitrary<Action[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: always },
      { weight: 3, arbitrary: table < TABLES ? ahead(table) : always },
      {
        weight: 1,
        arbitrary: fc.array(always, { maxLength: 3 }).map((actions): Action => ({ type: 'clone', actions })),
      },
    ),
    { maxLength: 4 },
  );

const clauses: fc.Arbitrary<Flow> = fc.record({
  table: fc.integer({ min: 0, max: TABLES }),
  match,
  actions: fc.constantFrom(1, 2).map((clause) => [{ type: 'conjunction' as const, id: 9, clause, of: 2 }]),
});

const plain: fc.Arbitrary<Flow> = fc
  .integer({ min: 0, max: TABLES })
  .chain((table) =>
    fc
      .tuple(
        match,
        actionsFor(table),
        part(fc.record({ goto: table < TABLES ? later(table) : fc.constant(TABLES + 1) })),
        part(fc.record({ metadata: fc.constantFrom('0x1', '0x0/0x1') })),
        part(fc.record({ write: fc.array(always, { minLength: 1, maxLength: 3 }) })),
        part(fc.record({ clear: fc.constant(true as const) })),
      )
      .map(
        ([matched, actions, ...rest]) => Object.assign({ table, match: matched, actions }, ...rest) as Flow,
      ),
  );

const byId: fc.Arbitrary<Flow> = fc
  .tuple(fc.integer({ min: 0, max: TABLES }), port)
  .map(([table, number]) => ({ table, match: { conj_id: 9 }, actions: [{ type: 'output', port: number }] }));

const bucketActions = fc.array(always, { maxLength: 3 });

/** Not `select`: for its hash Open vSwitch sends a packet around once more, which a trace does not follow everywhere. */
const group = (id: number): fc.Arbitrary<Group> =>
  fc.oneof(
    fc
      .array(
        bucketActions.map((actions) => ({ actions })),
        { maxLength: 3 },
      )
      .map((buckets): Group => ({ id, type: 'all', buckets })),
    bucketActions.map((actions): Group => ({ id, type: 'indirect', buckets: [{ actions }] })),
    fc.array(fc.tuple(bucketActions, fc.constantFrom(1, 77)), { maxLength: 3 }).map((list): Group => ({
      id,
      type: 'fast_failover',
      buckets: list.map(([actions, watchPort]) => ({ watchPort, actions })),
    })),
  );

export interface Pipeline {
  /** Some of them a switch refuses. */
  readonly flows: readonly Flow[];
  readonly groups: readonly Group[];
  readonly packets: readonly PacketFields[];
  /** States of packets that come back from tracking. */
  readonly states: readonly string[];
}

const payload: fc.Arbitrary<Match> = fc.oneof(
  fc.record({ eth_type: fc.constant(0x0806), arp_op: fc.integer({ min: 1, max: 2 }) }),
  fc.record({
    eth_type: fc.constant(0x0800),
    ip_proto: fc.constant(6),
    ip_src: address,
    ip_dst: address,
    tcp_src: small,
    tcp_dst: small,
    ip_ttl: fc.constantFrom(1, 2, 64),
  }),
  fc.record({
    eth_type: fc.constant(0x0800),
    ip_proto: fc.constant(17),
    ip_src: address,
    ip_dst: address,
    udp_src: small,
    udp_dst: small,
    ip_ttl: fc.constantFrom(1, 2, 64),
  }),
);

const packet: fc.Arbitrary<PacketFields> = fc
  .tuple(port, payload, mac, mac, part(fc.record({ vlan_vid: fc.constantFrom(0x1001, 0x1002) })))
  .map(([number, fields, source, target, tag]) => ({
    in_port: number,
    eth_src: source,
    eth_dst: target,
    ...tag,
    ...fields,
  }));

const withoutTracking = (actions: readonly Action[] = []): Action[] =>
  actions.filter(({ type }) => type !== 'ct');

/** Flows that track packets, or flows that write action sets: the two together end ovs-vswitchd 3.1. */
const separate = (flows: readonly Flow[], isTracking: boolean): Flow[] =>
  flows.map(({ write, actions, ...flow }) => ({
    ...flow,
    actions: isTracking ? (actions ?? []) : withoutTracking(actions),
    ...(isTracking || write === undefined ? {} : { write }),
  }));

const anyFlow = fc.oneof(
  { weight: 12, arbitrary: plain },
  { weight: 3, arbitrary: clauses },
  { weight: 1, arbitrary: byId },
);

/** Each flow has a priority of its own, except those of conjunctions, which share some. */
export const pipelines: fc.Arbitrary<Pipeline> = fc.record({
  flows: fc
    .tuple(fc.array(anyFlow, { minLength: 5, maxLength: 40 }), fc.boolean())
    .map(([flows, isTracking]) =>
      separate(flows, isTracking).map((flow, index) => ({
        ...flow,
        priority: isClause(flow) ? 2 * (index % 20) + 101 : 2 * index + 100,
      })),
    ),
  groups: fc.tuple(group(1), group(2), group(3)),
  packets: fc.array(packet, { minLength: 4, maxLength: 4 }),
  states: fc.array(fc.constantFrom('new|trk', 'est|trk', 'est|rpl|trk'), { minLength: 8, maxLength: 8 }),
});

const isClause = ({ actions = [] }: Flow): boolean => actions.some(({ type }) => type === 'conjunction');
