/** Reports of changes of flows, own ones and those of others; the same on every switch. */
import assert from 'node:assert/strict';
import {
  addFlow,
  addGroup,
  deleteFlow,
  deleteGroup,
  type Flow,
  type SwitchConnection,
} from '@podwire/openflow';

const flow: Flow = {
  ...{ table: 1, priority: 5, cookie: '0x7', match: { eth_type: 0x0800, ip_dst: '10.0.0.0/8' } },
  actions: [{ type: 'output', port: 2 }],
};
const last: Flow = { table: 9, priority: 1, match: {} };

export async function testFlowChanges(watching: SwitchConnection, other: SwitchConnection): Promise<void> {
  const events = await watching.watch(['flow_change']);
  const toGroup: Flow = { table: 2, priority: 1, match: {}, actions: [{ type: 'group', group: 4 }] };
  await watching.applyBundle([addFlow({ table: 3 }), deleteFlow({ table: 3 })]);
  await other.applyBundle([addFlow(flow), addGroup({ id: 4, type: 'all', buckets: [] }), addFlow(toGroup)]);
  await other.send([addFlow({ ...flow, cookie: '0x8' })]);
  const { cookie: _, ...modified } = { ...flow, actions: [] };
  await other.send([{ type: 'flow_mod', command: 'modify_strict', flow: modified }]);
  await other.send([deleteFlow(flow), deleteGroup(4)]);
  await watching.send([addFlow({ table: 4 })]);
  await other.send([addFlow(last)]);
  const { actions: _a, ...seen } = flow;
  const { actions: _b, ...user } = toGroup;
  const expected = [
    ...[
      ['add', seen],
      ['add', user],
      ['add', { ...seen, cookie: '0x8' }],
      ['modify', { ...seen, cookie: '0x8' }],
    ],
    ...[
      ['delete', { ...seen, cookie: '0x8' }],
      ['delete', user],
      ['add', last],
    ],
  ];
  const found: unknown[] = [];
  for await (const event of events) {
    assert.ok(event.type === 'flow_change' && event.change !== 'missed');
    if (found.push([event.change, event.flow]) === expected.length) break;
  }
  assert.deepEqual(found, expected);
  // Another choice ends the reports.
  const ports = await watching.watch(['port_status']);
  await other.send([deleteFlow(last)]);
  await watching.barrier();
  assert.equal(
    await Promise.race([ports[Symbol.asyncIterator]().next(), Promise.resolve('nothing')]),
    'nothing',
  );
}
