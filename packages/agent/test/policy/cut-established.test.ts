import { createTestClock } from '@podwire/platform/testing';
import type { Connection } from '@podwire/policy';
import { expect, test } from 'vitest';
import type { ConntrackCuts, TrackedConnection } from '../../src/policy/contract.js';
import { EstablishedCutter } from '../../src/policy/force/cut-established.js';
import { createLogged } from '../fakes/logged.js';

const entry = (more: Partial<TrackedConnection> = {}): TrackedConnection => ({
  ...{
    source: '10.0.0.9',
    destination: '10.0.0.1',
    protocol: 'tcp',
    sourcePort: 40_000,
    destinationPort: 80,
  },
  ...more,
});

/** A node with the pods 10.0.0.1 and fd00::1, and a table of connections. Port 443 alone is allowed. */
function createNode(entries: readonly TrackedConnection[]) {
  const clock = createTestClock();
  const { log, messages } = createLogged();
  const node = { clock, messages, table: [...entries], walks: 0, failures: 0, asked: [] as Connection[] };
  const cuts: Pick<ConntrackCuts, 'deleteWhere'> = {
    deleteWhere(isDenied) {
      node.walks++;
      if (node.failures-- > 0) return Promise.reject(new Error('EBUSY'));
      const before = node.table.length;
      node.table = node.table.filter((each) => !isDenied(each));
      return Promise.resolve(before - node.table.length);
    },
  };
  const cutter = new EstablishedCutter({
    ...{ clock, log, cuts: cuts as ConntrackCuts },
    isLocal: (address) => ['10.0.0.1', 'fd00::1'].includes(address),
    decider: () => (connection) => {
      node.asked.push(connection);
      return { verdict: connection.destinationPort === 443 ? 'allow' : 'deny' };
    },
  });
  return { node, cutter };
}

test.each<[string, TrackedConnection, boolean]>([
  ['to a pod of the node, denied', entry(), true],
  ['to a pod of the node, allowed', entry({ destinationPort: 443 }), false],
  ['from a pod of the node, denied', entry({ source: '10.0.0.1', destination: '203.0.113.9' }), true],
  ['of UDP', entry({ protocol: 'udp' }), true],
  ['of SCTP, over IPv6', entry({ source: 'fd00::9', destination: 'fd00::1', protocol: 'sctp' }), true],
  ['of pods of other nodes', entry({ destination: '10.0.1.1' }), false],
  ['of ICMP', entry({ protocol: 'icmp', sourcePort: undefined, destinationPort: undefined }), false],
  ['of a protocol without a name', entry({ protocol: 47 }), false],
  ['that changes the family on its way', entry({ source: 'fd00::9' }), false],
])('a connection %s: cut is %s', async (_, each, isCut) => {
  const { node, cutter } = createNode([each]);
  cutter.note();
  await node.clock.advance(1_000);
  expect(node.table).toEqual(isCut ? [] : [each]);
  expect(node.messages).toEqual(isCut ? ['info: cut connections that policy does not allow any more'] : []);
});

test('policy is asked about the connection with its ports', async () => {
  const { node, cutter } = createNode([entry()]);
  cutter.note();
  await node.clock.advance(1_000);
  expect(node.asked).toEqual([entry()]);
});

test('changes that come together are one walk through the table', async () => {
  const { node, cutter } = createNode([]);
  for (let change = 0; change < 5; change++) {
    cutter.note();
    await node.clock.advance(5);
  }
  await node.clock.advance(1_000);
  expect(node.walks).toBe(1);
});

test('a walk that fails is told and tried again', async () => {
  const { node, cutter } = createNode([entry()]);
  node.failures = 1;
  cutter.note();
  await node.clock.advance(5_000);
  expect(node.table).toEqual([]);
  expect(node.messages[0]).toBe('warn: connections that are not allowed any more could not be cut');
});

test('nothing is cut after a stop', async () => {
  const { node, cutter } = createNode([entry()]);
  cutter.note();
  await cutter.stop();
  await node.clock.advance(5_000);
  expect(node.table).toHaveLength(1);
});
