import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addFlow,
  addGroup,
  DecodeError,
  decodeMessage,
  deleteFlows,
  encodeMessage,
  type FieldName,
  fields,
  formatFieldValue,
  type Message,
  parseFieldValue,
} from '../src/index.js';
import { fieldValues, flows, foreignFields, groups, matches } from './arbitraries.js';

const there = (message: Message): Message => decodeMessage(encodeMessage({ xid: 7, message })).message;

describe('messages come back as they were sent', () => {
  test('flows', () => {
    fc.assert(fc.property(flows, (flow) => void expect(there(addFlow(flow))).toEqual(addFlow(flow))));
  });

  test('groups', () => {
    fc.assert(fc.property(groups, (group) => void expect(there(addGroup(group))).toEqual(addGroup(group))));
  });

  test('flows of a dump', () => {
    fc.assert(
      fc.property(fc.array(flows, { maxLength: 4 }), fc.nat(), fc.boolean(), (list, packets, more) => {
        const entries = list.map((flow) => ({ flow, packets, duration: 3.5 }));
        const reply = { type: 'dump_reply' as const, kind: 'flow' as const, entries, more };
        expect(there(reply)).toEqual(reply);
      }),
    );
  });

  test('unknown fields of a match, beside known ones', () => {
    fc.assert(
      fc.property(flows, foreignFields, (flow, raw) => {
        const change = addFlow({ ...flow, match: { ...flow.match, raw } });
        const bytes = encodeMessage({ xid: 7, message: change });
        expect(bytes.toString('hex')).toContain(raw.join(''));
        expect(there(change)).toEqual(change);
      }),
    );
  });

  test.each([
    ['set_field', '00190010000200040000000100000000'],
    ['load', 'ffff00180000232000070000000200040000000000000001'],
    ['ct with a zone', 'ffff0018000023200023000000020004000fff0000000000'],
  ])('%s of an unknown field', (_name, bytes) => {
    const change = addFlow({ table: 0, priority: 1, match: {}, actions: [{ type: 'raw', bytes }] });
    expect(there(change)).toEqual(change);
  });

  test('deletions by match, cookie, port and group', () => {
    fc.assert(
      fc.property(matches, (match) => {
        const selector = { table: 3, match, cookieFilter: '0x10/0xff0', outPort: 4, outGroup: 5 };
        const expected = deleteFlows(selector);
        expect(there(expected)).toEqual({ ...expected, flow: { ...expected.flow, priority: 32768 } });
      }),
    );
  });

  test.each<Message>([
    { type: 'hello' },
    { type: 'echo_request', data: Buffer.from('here') },
    { type: 'features_reply', datapathId: '00000000000000a1', tables: 254 },
    { type: 'error', error: { type: 4, code: 9 }, data: Buffer.from('0102', 'hex') },
    { type: 'barrier_request' },
    { type: 'set_async', events: ['port_status', 'flow_removed'] },
    { type: 'flow_monitor', command: 'add' },
    { type: 'flow_monitor', command: 'delete' },
    {
      type: 'flow_changes',
      changes: [
        { type: 'flow_change', change: 'add', flow: { table: 2, priority: 9, match: { in_port: 1 } } },
        {
          ...{ type: 'flow_change', change: 'modify' },
          flow: { table: 2, priority: 9, match: {}, cookie: '0x7', idleTimeout: 3, hardTimeout: 4 },
        },
        { type: 'flow_change', change: 'missed' },
        { type: 'flow_change', change: 'delete', flow: { table: 0, priority: 0, match: {} } },
      ],
    },
    { type: 'bundle_control', bundle: 9, step: 'commit' },
    { type: 'bundle_add', bundle: 9, change: addGroup({ id: 1, type: 'all', buckets: [] }) },
    { type: 'packet_out', inPort: 3, actions: [{ type: 'output', port: 'TABLE' }], packet: Buffer.alloc(60) },
    {
      ...{ type: 'packet_in', reason: 1, table: 2, cookie: '0x5' },
      ...{ match: { in_port: 1, reg0: 5 }, packet: Buffer.alloc(60) },
    },
    {
      type: 'port_status',
      change: 'add',
      description: { port: 1, name: 'veth1', mac: '02:00:00:00:00:01', isDown: false, hasLink: true },
    },
    {
      ...{ type: 'flow_removed', reason: 'delete', table: 2, priority: 9, match: { in_port: 1 } },
      ...{ duration: 1.25, packets: 3, bytes: 300 },
    },
    {
      type: 'meter_mod',
      command: 'add',
      meter: { id: 1, unit: 'kbps', burst: true, bands: [{ rate: 1000, burst: 800 }] },
    },
    {
      ...{ type: 'dump_reply', kind: 'table', more: false },
      entries: [{ table: 1, active: 2, lookups: 3, matches: 4 }],
    },
    {
      ...{ type: 'dump_reply', kind: 'port', more: false },
      entries: [{ port: 'LOCAL', duration: 5, received: { packets: 1, bytes: 60 }, sent: { dropped: 2 } }],
    },
    {
      ...{ type: 'dump_reply', kind: 'group', more: true },
      entries: [
        { id: 1, references: 2, packets: 3, bytes: 4, duration: 5, buckets: [{ packets: 3, bytes: 4 }] },
      ],
    },
  ])('$type', (message) => expect(there(message)).toEqual(message));
});

describe('values of fields', () => {
  const names = fields.map(({ name }) => name);

  test.each(names)('%s is written as it was read', (name: FieldName) => {
    fc.assert(
      fc.property(fieldValues(name), (value) => {
        expect(formatFieldValue(name, parseFieldValue(name, value))).toBe(value);
      }),
    );
  });

  test.each<[FieldName, string | number, string]>([
    ['ip_src', '10.0.0.1/33', 'a prefix of 33 bits'],
    ['ip_src', '2001:db8::1', 'the wrong family'],
    ['eth_src', '02:00', 'not an Ethernet address'],
    ['ct_state', '+new+old', 'no such flag'],
    ['reg0', '0x100000000', 'more than 32 bits'],
    ['reg0', -1, 'not a number of a field'],
    ['reg0', '1e3', 'not a number'],
  ])('%s refuses %s', (name, value, message) => {
    expect(() => parseFieldValue(name, value)).toThrow(`${name}: ${message}`);
  });
});

describe('bytes from outside', () => {
  test('an unknown action is refused', () => {
    const message = addFlow({ actions: [{ type: 'fly' } as never] });
    expect(() => encodeMessage({ xid: 1, message })).toThrow(new RangeError('there is no action fly'));
  });

  test('a message that is cut or changed is refused, or read as another message', () => {
    const changed = fc.tuple(flows, fc.nat(), fc.nat(255), fc.nat(200));
    fc.assert(
      fc.property(changed, ([flow, at, byte, cut]) => {
        const bytes = Buffer.from(encodeMessage({ xid: 1, message: addFlow(flow) }));
        bytes[8 + (at % (bytes.length - 8))] = byte;
        try {
          expect(decodeMessage(bytes.subarray(0, bytes.length - cut)).message.type).toBe('flow_mod');
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
