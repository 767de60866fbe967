import { createKindRegistry, type Resource } from '@podwire/engine';
import { describe, expect, test } from 'vitest';
import { switchKinds } from '../src/index.js';
import { bridge, mapping, owned, port, setting } from './compliance-subject.js';

const kinds = createKindRegistry(Object.values(switchKinds));
const web = owned.resources.find((one) => one.kind === 'ovs-port' && one.name === 'web0');
const checkOf = (resource: object): string | undefined =>
  switchKinds[(resource as Resource).kind as keyof typeof switchKinds].check(resource);

describe('checks', () => {
  test('pass resources that were read from a file', () => {
    for (const one of [bridge, ...owned.resources, setting('a'), mapping('net1', 'br0')])
      expect(checkOf(JSON.parse(JSON.stringify(one)) as object)).toBeUndefined();
  });

  test.each([
    [{ ...bridge, failMode: 'open' }, 'failMode: none of standalone, secure'],
    [{ ...bridge, name: 'br\0' }, 'name: no text of 1 to 255 characters'],
    [{ ...port('a'), tag: 4096 }, 'tag: no number of 0 to 4095'],
    [{ ...port('a'), interfaces: [] }, 'interfaces: no list of at least 1'],
    [
      { ...port('a'), interfaces: [{ name: 'a', options: { key: 5 } }] },
      'interfaces.0.options: no object with texts',
    ],
    [
      { ...port('a'), externalIds: { 'a b': 'c' } },
      'externalIds: a key has a blank, or is a mark of Podwire',
    ],
    [
      { ...port('a'), externalIds: { podwire: 'c' } },
      'externalIds: a key has a blank, or is a mark of Podwire',
    ],
    [
      { kind: 'ovs-qos', name: 'q', type: 'linux-htb', queues: { one: 'a' } },
      'queues: no queues by their numbers',
    ],
    [{ kind: 'ovs-queue', name: 'q', dscp: 64 }, 'dscp: no number of 0 to 63'],
    [{ kind: 'ovs-port-installed', port: 'a', timeout: -1 }, 'timeout: no number of 0 to 9007199254740991'],
    [
      { kind: 'ovs-setting', key: 'podwire/a', value: '1' },
      'key: no key of 1 to 200 characters without blanks and slashes, or a mark of Podwire',
    ],
    [{ kind: 'ovs-setting', key: 'a', value: '' }, 'value: no text of 1 to 4096 characters'],
    [
      { kind: 'ovs-setting-entry', key: 'a', name: 'net:1', value: 'b' },
      'name: no name without blanks, commas, colons and slashes',
    ],
    [
      { kind: 'ovs-setting-entry', key: 'a', name: 'net1', value: 'b,c' },
      'value: no text without blanks and commas',
    ],
    [
      { kind: 'ovs-mirror', name: 'm', bridge: 'b', selectVlans: [5000] },
      'selectVlans.0: no number of 0 to 4095',
    ],
  ])('refuse %j', (resource, problem) => {
    expect(checkOf(resource)).toBe(problem);
  });
});

test('a resource needs all rows that it names or hangs in, but not its own', () => {
  expect(kinds.needsOf(web!)).toEqual([
    ...['Open_vSwitch/QoS/gold', 'Open_vSwitch/Bridge/br0', 'Open_vSwitch/Mirror/copy'],
  ]);
  expect(kinds.needsOf(bridge)).toEqual([]);
  const mirror = owned.resources.find((one) => one.kind === 'ovs-mirror' && one.name === 'tap')!;
  const ports = ['Open_vSwitch/Port/web0', 'Open_vSwitch/Port/tap0', 'Open_vSwitch/Bridge/br0'];
  expect(kinds.needsOf(mirror)).toEqual(ports);
});

test('a difference is said in words', () => {
  const kind = switchKinds['ovs-queue'];
  const wanted = { kind: 'ovs-queue', name: 'q', dscp: 3, externalIds: { a: 'b' } } as const;
  const pairs = new Map([
    ['podwire', 'Queue/q'],
    ['podwire-keys', 'a'],
    ['a', 'b'],
  ]);
  const found = { mark: 'Queue/q', columns: { dscp: 3, other_config: [] }, pairs, parents: [], groups: [] };
  expect(kind.compare(wanted, [found])).toBeUndefined();
  expect(kind.compare(wanted, [undefined])).toEqual({ missing: 'there is no queue q' });
  expect(kind.compare(wanted, [{ ...found, mark: undefined }])).toEqual({
    ...{ foreign: 'queue q is not ours', code: 'ROW_TAKEN' },
  });
  const other = { ...found, columns: { ...found.columns, dscp: null } };
  expect(kind.compare(wanted, [other])).toBe('queue q: dscp is null');
  const withoutPair = new Map([...pairs].filter(([key]) => key !== 'a'));
  expect(kind.compare(wanted, [{ ...found, pairs: withoutPair }])).toBe('queue q: external_ids:a is null');
});
