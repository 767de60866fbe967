/** A real ovs-vswitchd that is killed and comes back, ovs-ofctl beside it, and a new process that takes over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSwitchBackend } from '@podwire/backend-ovsdb';
import {
  type Backend,
  type Changes,
  createEngine,
  createKindRegistry,
  type Engine,
  type Hint,
  type Owned,
  TouchIndex,
} from '@podwire/engine';
import type { PodwireError } from '@podwire/errors';
import { openSwitch } from '@podwire/openflow';
import { OvsdbClient } from '@podwire/ovsdb';
import { until } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { createFlowBackend } from '../src/index.js';
import { flow, node, owned, pictureOf, route } from './compliance-subject.js';
import { connectTo } from './real-bridge.js';

const all = [node, owned];
const call = () => ({ signal: AbortSignal.timeout(30_000) });

interface Bench {
  readonly real: OpenVSwitch;
  readonly engine: Engine;
  readonly changes: Changes;
  /** Owners that the hints lead to. */
  readonly ownersOf: (hints: readonly Hint[]) => readonly string[];
}

const createBackend = (real: OpenVSwitch, timeout?: number): Backend =>
  createFlowBackend({
    bridges: ['br0'],
    ...(timeout === undefined ? {} : { timeout }),
    open: (bridge, options) => openSwitch(real.socketOf(bridge), options),
  });

async function withBridge(work: (bench: Bench) => Promise<void>): Promise<void> {
  const real = await OpenVSwitch.startWithBridge();
  const backend = createBackend(real);
  const engine = createEngine({ backends: [backend] });
  const index = new TouchIndex(createKindRegistry(backend.kinds));
  try {
    for (const each of all) {
      await engine.apply(each, call());
      index.put(each);
    }
    const [feed] = backend.changes!;
    const changes = feed!.open();
    const ownersOf = (hints: readonly Hint[]): readonly string[] => [
      ...new Set(hints.flatMap((hint) => [...index.find(hint, feed!.place).owners])),
    ];
    await work({ real, engine, changes, ownersOf });
  } finally {
    await engine.close();
    await real.close();
  }
}

async function picture(real: OpenVSwitch) {
  const connection = await connectTo(real);
  try {
    return await pictureOf(connection);
  } finally {
    connection.close();
  }
}

/** The next hints, when there are so many. */
function readHints(changes: Changes, count = 1): Promise<readonly Hint[]> {
  const hints: Hint[] = [];
  return until(`${count} hints`, () => {
    hints.push(...changes.read().hints);
    return hints.length >= count ? hints : undefined;
  });
}

const lost: Hint = { keys: [], lost: true, marked: true };

test('after ovs-vswitchd was killed and started again, all is hinted at and comes back', () =>
  withBridge(async ({ real, engine, changes, ownersOf }) => {
    const before = await picture(real);
    await real.killDaemon();
    const hints = await readHints(changes);
    assert.deepEqual(hints, [lost]);
    assert.deepEqual(ownersOf(hints), ['node', 'network:1']);
    const failed = await engine.reconcile(all, call());
    assert.deepEqual(new Set(failed.map(({ action }) => action)), new Set(['failed']));
    await engine.remove({ owner: 'gone', resources: [route('10.8.0.1', 1)] }, call());

    await real.startDaemon();
    assert.deepEqual(await readHints(changes), [lost]);
    const repaired = await engine.reconcile(all, call());
    assert.deepEqual(new Set(repaired.map(({ action }) => action)), new Set(['repaired']));
    assert.deepEqual(await picture(real), before);
    assert.deepEqual(await engine.reconcile(all, call()), []);
  }));

test('while ovs-vswitchd stands still its flows are silent, and then all goes on', () =>
  withBridge(async ({ real, engine, changes }) => {
    const impatient = createEngine({ backends: [createBackend(real, 200)] });
    assert.deepEqual(await impatient.verify(owned, call()), []);
    real.freezeDaemon();
    const failed = await impatient.reconcile(all, call());
    assert.deepEqual(
      failed.map(({ what, error }) => [what, (error as PodwireError).code]),
      [
        ['all 1 resources in openflow', 'BACKEND_SILENT'],
        ['all 7 resources in openflow', 'BACKEND_SILENT'],
        ['leftovers on bridge br0', 'BACKEND_SILENT'],
      ],
    );
    real.thawDaemon();
    assert.deepEqual(await engine.reconcile(all, call()), []);
    assert.deepEqual(await impatient.reconcile(all, call()), []);
    assert.deepEqual(changes.read().hints, []);
    await impatient.close();
  }));

test('what ovs-ofctl changes is hinted at and repaired; its own flows stay', () =>
  withBridge(async ({ real, engine, changes, ownersOf }) => {
    await real.ofctl(['add-flow', 'BRIDGE', 'table=31,priority=7,actions=drop']);
    await readHints(changes);
    const before = await picture(real);
    await real.ofctl(['--strict', 'del-flows', 'BRIDGE', 'table=31,priority=100,ip,nw_dst=10.1.0.9']);
    await real.ofctl(['mod-flows', 'BRIDGE', 'table=60,actions=drop']);
    assert.deepEqual(ownersOf(await readHints(changes, 2)), ['network:1']);
    const repaired = await engine.reconcile(all, call());
    const words = repaired.map(({ action, what }) => `${action} ${what}`);
    assert.deepEqual(words, [
      'repaired flow table=60,priority=100,reg0=0x7 on br0',
      'repaired flow table=31,priority=100,ip,ip_dst=10.1.0.9 on br0',
    ]);
    assert.deepEqual(await picture(real), before);
    await engine.remove(owned, call());
    await engine.remove(node, call());
    const left = (await picture(real)).flows.map(({ priority }) => priority);
    assert.deepEqual(left, [7]);
  }));

test('a new process changes nothing, and other actions in the place of a flow keep its counters', () =>
  withBridge(async ({ real, engine }) => {
    const connection = await connectTo(real);
    // An IPv4 packet with nothing but its header.
    const packet = Buffer.from(
      '020000000001020000000002' + '0800' + '45000014000000004000' + '0000' + '0a010003' + '0a010707',
      'hex',
    );
    const send = async (): Promise<void> => {
      const actions = [{ type: 'output', port: 'TABLE' }] as const;
      await connection.send([{ type: 'packet_out', inPort: 1, actions, packet }]);
      await real.appctl('revalidator/wait');
    };
    const count = async (): Promise<number | undefined> => {
      const entries = await connection.dump('flow', { table: 31 });
      return entries.find(({ flow: { match } }) => match?.ip_dst === '10.1.0.0/16')?.packets;
    };
    await send();
    assert.equal(await count(), 1);
    await engine.close();

    const events = await connection.watch(['flow_change']);
    const next = createEngine({ backends: [createBackend(real)] });
    assert.deepEqual(await next.reconcile(all, call()), []);
    assert.equal(await count(), 1);
    await next.change({ owner: owned.owner }, { replace: [route('10.1.0.0/16', 5)] }, call());
    await send();
    assert.equal(await count(), 2);
    const seen: unknown[] = [];
    for await (const event of events) if (seen.push('flow' in event && event.flow.match) === 1) break;
    assert.deepEqual(seen, [{ eth_type: 0x0800, ip_dst: '10.1.0.0/16' }]);
    await next.close();
    connection.close();
  }));

test('flows come with the bridge that they are on, in one list', () =>
  withBridge(async ({ real }) => {
    const client = new OvsdbClient({ database: 'Open_vSwitch', endpoints: [real.database.endpoint] });
    const backends = [createSwitchBackend(client), createBackend(real)];
    const engine = createEngine({ backends });
    const list: Owned = {
      owner: 'list',
      resources: [
        { ...flow({ table: 0 }), bridge: 'br7', actions: [{ type: 'output', port: 'LOCAL' }] },
        { kind: 'ovs-bridge', name: 'br7', protocols: ['OpenFlow14'], failMode: 'secure' },
      ],
    };
    try {
      await engine.apply(list, call());
      assert.deepEqual(await engine.verify(list, call()), []);
      await engine.remove(list, call());
    } finally {
      await engine.close();
    }
  }));

test('flows of every sort of action are found as they were sent', () =>
  withBridge(async ({ engine }) => {
    const udp = { eth_type: 0x0800, ip_proto: 17, udp_dst: '0x35/0xff' };
    const exec = [{ type: 'load', value: 7, to: { field: 'ct_mark', start: 0, bits: 8 } }] as const;
    const list: Owned = {
      owner: 'sorts',
      resources: [
        flow({
          ...{ table: 1, match: { ...udp, ct_state: '+trk+new', reg0: '0x5/0xff', metadata: '0x1/0xf' } },
          actions: [
            {
              type: 'ct',
              commit: true,
              zone: 5,
              table: 2,
              exec,
              nat: { direction: 'src', addresses: '10.0.0.1' },
            },
            { type: 'set_field', field: 'eth_dst', value: '02:00:00:00:00:01' },
            { type: 'move', from: { field: 'reg0' }, to: { field: 'reg1' } },
            { type: 'resubmit', table: 9 },
            { type: 'clone', actions: [{ type: 'dec_ttl' }, { type: 'output', port: 'IN_PORT' }] },
            { type: 'controller', maxLength: 64 },
          ],
        }),
        flow({ table: 1, priority: 1, match: { vlan_vid: 0x1005 }, actions: [{ type: 'pop_vlan' }] }),
        flow({
          table: 1,
          priority: 2,
          match: { eth_type: 0x0806, arp_tpa: '10.0.0.0/8', arp_op: 1 },
          clear: true,
        }),
        flow({
          table: 1,
          priority: 3,
          match: { tun_id: '0x7', in_port: 'LOCAL' },
          metadata: '0x1/0xff',
          goto: 3,
        }),
        flow({
          table: 1,
          priority: 4,
          match: { xreg1: '0x100000002' },
          write: [{ type: 'output', port: 3 }],
        }),
        flow({ table: 1, priority: 5, match: { conj_id: 4 }, actions: [{ type: 'output', port: 'NORMAL' }] }),
        flow({
          ...{ table: 1, priority: 6, match: { eth_type: 0x86dd, ipv6_src: 'fd00::/64' } },
          actions: [
            { type: 'conjunction', id: 4, clause: 1, of: 2 },
            { type: 'note', bytes: '0102' },
          ],
        }),
      ],
    };
    await engine.apply(list, call());
    assert.deepEqual(await engine.verify(list, call()), []);
    assert.deepEqual(await engine.reconcile([...all, list], call()), []);
  }));
