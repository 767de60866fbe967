import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  addFlow,
  addGroup,
  addMeter,
  deleteAllGroups,
  deleteFlow,
  deleteFlows,
  deleteGroup,
  deleteMeter,
  modifyGroup,
  openSwitch,
  OpenFlowError,
  type Flow,
  type FlowRemoved,
  type PacketIn,
  SwitchError,
  type SwitchEvent,
} from '@podwire/openflow';
import { testFlowChanges } from './flow-changes.js';
import { useSwitch } from './private-switch.js';

const used = useSwitch();
beforeEach(async () => {
  await used.connection.applyBundle([deleteFlows(), deleteAllGroups()]);
});

const dumpFlows = async (): Promise<Flow[]> => (await used.connection.dump('flow')).map(({ flow }) => flow);

test('a bundle makes all of its changes', async () => {
  const group = { id: 5, type: 'all', buckets: [{ actions: [{ type: 'output', port: 1 }] }] } as const;
  const flows: Flow[] = [
    { table: 0, priority: 7, match: { in_port: 1 }, actions: [{ type: 'group', group: 5 }] },
    { table: 3, priority: 9, match: { eth_type: 0x0800, ip_dst: '10.0.0.0/8' }, cookie: '0xabc', goto: 9 },
  ];
  await used.connection.applyBundle([addGroup(group), ...flows.map(addFlow)]);
  assert.deepEqual(await dumpFlows(), flows);
  assert.deepEqual(await used.connection.dump('groupDescription'), [group]);
});

test('a bundle with a change that is refused makes none, and the error names that change', async () => {
  const wrong = addFlow({ match: { tcp_dst: 80 } });
  const changes = [addFlow({ table: 1 }), wrong, addFlow({ table: 2 })];
  await assert.rejects(used.connection.applyBundle(changes), (error) => {
    assert.ok(error instanceof SwitchError);
    assert.equal(error.code, 'OFPBMC_BAD_PREREQ');
    assert.deepEqual(
      error.failures.map(({ index }) => index),
      [1],
    );
    return true;
  });
  assert.deepEqual(await dumpFlows(), []);
});

test('a bundle that fails only when it is committed makes no change', async () => {
  const toNowhere = addFlow({ table: 1, actions: [{ type: 'group', group: 99 }] });
  await assert.rejects(used.connection.applyBundle([addFlow({ table: 2 }), toNowhere]), (error) => {
    assert.ok(error instanceof SwitchError);
    assert.deepEqual(
      error.failures.map(({ index, name }) => [index, name]),
      [[1, 'OFPBAC_BAD_OUT_GROUP']],
    );
    return true;
  });
  assert.deepEqual(await dumpFlows(), []);
});

test('requests outside of a bundle are carried out one by one', async () => {
  const requests = [addFlow({ table: 1 }), addFlow({ match: { tcp_dst: 80 } }), addFlow({ table: 2 })];
  await assert.rejects(used.connection.send(requests), { code: 'OFPBMC_BAD_PREREQ' });
  assert.deepEqual(
    (await dumpFlows()).map(({ table }) => table),
    [1, 2],
  );
});

test('flows are deleted one by one, by cookie and by match', async () => {
  const flow = (table: number, cookie: string): Flow => ({
    table,
    priority: 1,
    match: { in_port: 1 },
    cookie,
  });
  await used.connection.applyBundle(
    [flow(1, '0x11'), flow(2, '0x12'), flow(3, '0x21'), flow(4, '0x31')].map(addFlow),
  );
  await used.connection.send([deleteFlow(flow(4, '0x31')), deleteFlows({ cookieFilter: '0x10/0xf0' })]);
  assert.deepEqual(
    (await dumpFlows()).map(({ table }) => table),
    [3],
  );
  await used.connection.send([deleteFlows({ match: { in_port: 1 } })]);
  assert.deepEqual(await dumpFlows(), []);
});

test('a dump of more than one message is complete', async () => {
  const flows = [...Array(5000).keys()].map((index): Flow => ({
    table: 7,
    priority: index,
    match: { reg0: index },
  }));
  await used.connection.applyBundle(flows.map(addFlow));
  const dumped = (await used.connection.dump('flow', { table: 7 })).map(({ flow }) => flow);
  assert.deepEqual(
    dumped.sort((a, b) => a.priority! - b.priority!),
    flows,
  );
});

test('groups are modified and deleted with the flows that send to them', async () => {
  const actions = [{ type: 'output', port: 2 }] as const;
  await used.connection.send([addGroup({ id: 1, type: 'indirect', buckets: [{ actions }] })]);
  const changed = {
    id: 1,
    type: 'select',
    buckets: [
      { weight: 5, actions },
      { weight: 3, actions: [] },
    ],
  } as const;
  await used.connection.send([modifyGroup(changed), addFlow({ actions: [{ type: 'group', group: 1 }] })]);
  assert.deepEqual(await used.connection.dump('groupDescription'), [changed]);
  const [statistics] = await used.connection.dump('group');
  assert.deepEqual([statistics?.id, statistics?.buckets.length], [1, 2]);
  await used.connection.send([deleteGroup(1)]);
  assert.deepEqual(await dumpFlows(), []);
});

test('meters are dumped as they were added', async () => {
  const meter = {
    id: 3,
    unit: 'kbps',
    burst: true,
    statistics: true,
    bands: [{ rate: 1000, burst: 800 }],
  } as const;
  await used.connection.send([
    addMeter(meter),
    addFlow({ meter: 3, actions: [{ type: 'output', port: 1 }] }),
  ]);
  assert.deepEqual(await used.connection.dump('meterConfig'), [meter]);
  assert.equal((await dumpFlows())[0]?.meter, 3);
  await used.connection.send([deleteMeter(3)]);
  assert.deepEqual(await used.connection.dump('meterConfig'), []);
});

test('a packet that is sent is counted by flows and ports', async () => {
  await used.connection.send([addFlow({ match: { in_port: 4 }, actions: [{ type: 'output', port: 5 }] })]);
  const packet = Buffer.alloc(60);
  await used.connection.send([
    { type: 'packet_out', inPort: 4, actions: [{ type: 'output', port: 'TABLE' }], packet },
  ]);
  // The switch counts up when it revalidates its caches, which `revalidator/wait` makes it do.
  await used.real.appctl('revalidator/wait');
  const [entry] = await used.connection.dump('flow');
  assert.deepEqual([entry?.packets, entry?.bytes], [1, 60]);
  const sent = (await used.connection.dump('port')).find(({ port }) => port === 5);
  assert.equal(sent?.sent.packets, 1);
});

test('ports and tables are described', async () => {
  const ports = await used.connection.dump('portDescription');
  assert.deepEqual(ports.find(({ port }) => port === 1)?.name, 'p1');
  assert.equal(ports.find(({ port }) => port === 'LOCAL')?.name, 'br0');
  assert.equal((await used.connection.dump('table')).length, used.connection.features.tables);
});

/** The events up to the first of a type. */
async function takeUntil(
  type: SwitchEvent['type'],
  events: AsyncIterable<SwitchEvent>,
): Promise<SwitchEvent[]> {
  const taken: SwitchEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (event.type === type) break;
  }
  return taken;
}

test('changes of ports and removals of flows are reported', async () => {
  const events = await used.connection.watch(['port_status', 'flow_removed']);
  await used.real.vsctl('add-port', 'br0', 'extra', '--', 'set', 'Interface', 'extra', 'type=dummy');
  await used.real.vsctl('del-port', 'br0', 'extra');
  const flow: Flow = { table: 8, priority: 3, match: { reg5: 6 }, cookie: '0x77', flags: ['send_flow_rem'] };
  await used.connection.send([addFlow(flow), deleteFlow(flow)]);
  const seen = await takeUntil('flow_removed', events);
  const added = seen[0]?.type === 'port_status' ? seen[0] : undefined;
  assert.deepEqual([added?.change, added?.description.name], ['add', 'extra']);
  const { reason, table, match, cookie } = seen.at(-1) as FlowRemoved;
  assert.deepEqual(
    { reason, table, match, cookie },
    { reason: 'delete', table: 8, match: { reg5: 6 }, cookie: '0x77' },
  );
});

test('the flows that another connection changes are reported', async () => {
  const [watching, other] = [
    await openSwitch(used.real.socketOf('br0')),
    await openSwitch(used.real.socketOf('br0')),
  ];
  try {
    await testFlowChanges(watching, other);
  } finally {
    watching.close();
    other.close();
  }
});

test('a packet for the controller is reported', async () => {
  const events = await used.connection.watch(['packet_in']);
  await used.connection.send([addFlow({ table: 0, cookie: '0x9', actions: [{ type: 'controller' }] })]);
  const packet = Buffer.alloc(60, 1);
  await used.connection.send([
    { type: 'packet_out', inPort: 4, actions: [{ type: 'output', port: 'TABLE' }], packet },
  ]);
  const [event] = await takeUntil('packet_in', events);
  const { type, cookie, match } = event as PacketIn;
  assert.deepEqual({ type, cookie, match }, { type: 'packet_in', cookie: '0x9', match: { in_port: 4 } });
});

test('a request that is aborted leaves the connection usable', async () => {
  const over = new AbortController();
  const flows = [...Array(20_000).keys()].map((index) => addFlow({ table: 9, match: { reg0: index } }));
  const applied = used.connection.applyBundle(flows, { signal: over.signal });
  over.abort(new Error('over'));
  await assert.rejects(applied, { message: 'over' });
  await used.connection.barrier();
  assert.deepEqual(await dumpFlows(), []);
});

test('a bridge without OpenFlow 1.4 refuses the connection', async () => {
  await used.real.vsctl(
    'add-br',
    'old',
    '--',
    'set',
    'Bridge',
    'old',
    'datapath_type=dummy',
    'protocols=OpenFlow10',
  );
  await assert.rejects(openSwitch(used.real.socketOf('old')), { code: 'OFPHFC_INCOMPATIBLE' });
});

test('a connection to nothing fails with the error of the system', async () => {
  await assert.rejects(openSwitch(used.real.socketOf('none')), { code: 'ENOENT' });
});

test('requests on a closed connection fail', async () => {
  const other = await openSwitch(used.real.socketOf('br0'));
  other.close();
  assert.equal(await other.closed, undefined);
  await assert.rejects(
    other.barrier(),
    (error) => error instanceof OpenFlowError && error.code === 'ENOTCONN',
  );
});
