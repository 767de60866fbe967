/** Changes and their outcome. */
import assert from 'node:assert/strict';
import {
  type Action,
  addFlow,
  addGroup,
  type Change,
  deleteFlow,
  deleteFlows,
  deleteGroup,
  type Flow,
  type FlowMod,
  type Group,
  modifyGroup,
  type SwitchConnection,
  SwitchError,
} from '@podwire/openflow';
import { type Case, listFlows, outcome } from './environment.js';

const output = (port: number) => ({ type: 'output', port }) as const;

const base = (table: number, more: Partial<Flow> = {}): Flow => ({
  ...{ table, priority: 5, match: { in_port: 1 }, actions: [output(2)] },
  ...more,
});

const modify = (flow: Flow, command: FlowMod['command'] = 'modify'): FlowMod => ({
  type: 'flow_mod',
  command,
  flow,
});

/** The names of errors by the place of the change. */
async function failuresOf(connection: SwitchConnection, changes: readonly Change[]): Promise<unknown> {
  try {
    await connection.applyBundle(changes);
    return [];
  } catch (error) {
    if (error instanceof SwitchError) return error.failures.map(({ index, name }) => [index, name]);
    throw error;
  }
}

const flowCases: readonly Case[] = [
  {
    name: 'a flow replaces that of the same table, match and priority',
    run: async (connection) => {
      const second = base(1, { actions: [output(3)], cookie: '0x9' });
      await connection.send([base(1), second].map(addFlow));
      assert.deepEqual(await listFlows(connection), [second]);
    },
  },
  {
    name: 'a modification changes all flows that its match covers, and adds none',
    run: async (connection) => {
      const other = base(1, { match: { in_port: 2 } });
      const narrow = base(1, { match: { in_port: 1, reg0: 3 }, cookie: '0x4' });
      await connection.send([base(1), other, narrow].map(addFlow));
      await connection.send([modify({ table: 1, match: { in_port: 1 }, actions: [output(9)] })]);
      await connection.send([modify({ table: 2, match: { in_port: 1 }, actions: [output(9)] })]);
      const expected = [base(1, { actions: [output(9)] }), { ...narrow, actions: [output(9)] }, other];
      assert.deepEqual(
        (await listFlows(connection)).map(({ match, actions, cookie }) => ({ match, actions, cookie })),
        [expected[1], expected[0], expected[2]].map((flow) => ({
          ...{ match: flow!.match, actions: flow!.actions, cookie: flow!.cookie },
        })),
      );
    },
  },
  {
    name: 'a strict modification changes the flow of the same priority alone',
    run: async (connection) => {
      await connection.send([base(1), base(1, { priority: 6 })].map(addFlow));
      await connection.send([modify(base(1, { actions: [output(9)] }), 'modify_strict')]);
      const ports = (await listFlows(connection)).map(({ actions }) => actions);
      assert.deepEqual(ports, [[output(9)], [output(2)]]);
    },
  },
  {
    name: 'a deletion means every table, the flows that its match covers, and no other',
    run: async (connection) => {
      const masked = base(2, { match: { in_port: 1, reg0: '0x10/0xf0' } });
      const wide = base(3, { match: {} });
      await connection.send([base(1), masked, wide].map(addFlow));
      await connection.send([deleteFlows({ match: { in_port: 1, reg0: '0x10/0xff' } })]);
      assert.equal((await listFlows(connection)).length, 3);
      await connection.send([deleteFlows({ match: { in_port: 1, reg0: '0x10/0x10' } })]);
      assert.deepEqual(await listFlows(connection), [base(1), wide]);
      await connection.send([deleteFlows({ match: { in_port: 1 } })]);
      assert.deepEqual(await listFlows(connection), [wide]);
    },
  },
  {
    name: 'deletions look at cookies, ports and groups',
    run: async (connection) => {
      const toGroup = base(4, { actions: [{ type: 'group', group: 3 }] });
      const list = [
        base(1, { cookie: '0x12' }),
        base(2, { cookie: '0x21' }),
        base(3, { actions: [output(7)] }),
        toGroup,
      ];
      await connection.send([addGroup({ id: 3, type: 'all', buckets: [] }), ...list.map(addFlow)]);
      const tables = async () => (await listFlows(connection)).map(({ table }) => table);
      await connection.send([deleteFlows({ cookieFilter: '0x10/0xf0' })]);
      assert.deepEqual(await tables(), [2, 3, 4]);
      await connection.send([deleteFlows({ outPort: 7 })]);
      assert.deepEqual(await tables(), [2, 4]);
      await connection.send([deleteFlows({ outGroup: 3 })]);
      assert.deepEqual(await tables(), [2]);
      await connection.send([deleteFlow(base(2, { priority: 6 })), deleteFlow(base(2))]);
      assert.deepEqual(await tables(), []);
    },
  },
  {
    name: 'a flow that overlaps another one of its priority is refused when asked',
    run: async (connection) => {
      const check = (flow: Flow): Promise<string> =>
        outcome(connection, { ...addFlow(flow), checkOverlap: true });
      await connection.send([addFlow(base(1))]);
      assert.equal(await check(base(1, { match: { reg0: 1 } })), 'OFPFMFC_OVERLAP');
      assert.equal(await check(base(1, { match: { in_port: 1, reg0: 1 } })), 'OFPFMFC_OVERLAP');
      assert.equal(await check(base(1, { match: { in_port: 2 } })), 'ok');
      assert.equal(await check(base(1)), 'ok');
      assert.equal(await check(base(1, { match: { reg0: 1 }, priority: 6 })), 'ok');
      assert.equal(await check(base(2, { match: { reg0: 1 } })), 'ok');
    },
  },
  {
    name: 'flows are dumped by table, match and cookie',
    run: async (connection) => {
      await connection.send(
        [base(1, { cookie: '0x12' }), base(2, { match: { in_port: 1, reg0: 5 } })].map(addFlow),
      );
      const tables = async (...selector: Parameters<typeof deleteFlows>) =>
        (await connection.dump('flow', selector[0])).map(({ flow }) => flow.table);
      assert.deepEqual(await tables({ table: 2 }), [2]);
      assert.deepEqual(await tables({ cookieFilter: '0x2/0xf' }), [1]);
      assert.deepEqual(await tables({ match: { reg0: 5 } }), [2]);
      assert.deepEqual(await tables({ outPort: 9 }), []);
    },
  },
  {
    name: 'flows of several selectors are dumped in the order of these',
    run: async (connection) => {
      await connection.send([1, 2, 3].map((table) => addFlow(base(table))));
      const tablesOf = async (...tables: number[]) =>
        (
          await connection.dump(
            'flow',
            tables.map((table) => ({ table })),
          )
        ).map(({ flow }) => flow.table);
      assert.deepEqual(await tablesOf(3, 4, 1, 3), [3, 1, 3]);
      assert.deepEqual(await tablesOf(), []);
    },
  },
  {
    name: 'wide registers of a match are dumped as registers',
    run: async (connection) => {
      await connection.send([addFlow({ match: { xreg1: '0x500000000/0xffffffff00000000' } })]);
      assert.deepEqual((await listFlows(connection))[0]?.match, { reg2: 5 });
    },
  },
];

const bundleCases: readonly Case[] = [
  {
    name: 'a bundle is made in order',
    run: async (connection) => {
      const group: Group = { id: 1, type: 'indirect', buckets: [{ actions: [output(1)] }] };
      const flow = base(1, { actions: [{ type: 'group', group: 1 }] });
      await connection.applyBundle([addFlow(base(2)), deleteFlows(), addGroup(group), addFlow(flow)]);
      assert.deepEqual(await listFlows(connection), [flow]);
    },
  },
  {
    name: 'a bundle with a wrong change makes none',
    run: async (connection) => {
      await connection.send([addFlow(base(9))]);
      const late = base(2, { actions: [{ type: 'group', group: 4 }] });
      const early = base(2, { match: { tcp_dst: 4 } });
      const changes = (wrong: Flow): Change[] => [
        deleteFlows(),
        addFlow(base(1)),
        addFlow(wrong),
        addFlow(base(3)),
      ];
      assert.deepEqual(await failuresOf(connection, changes(late)), [[2, 'OFPBAC_BAD_OUT_GROUP']]);
      assert.deepEqual(await failuresOf(connection, changes(early)), [[2, 'OFPBMC_BAD_PREREQ']]);
      assert.deepEqual(await listFlows(connection), [base(9)]);
    },
  },
  {
    name: 'a bundle is made when its guard has looked, and discarded when the guard throws',
    run: async (connection) => {
      const seen: number[] = [];
      const guard = async (): Promise<void> => {
        seen.push((await connection.dump('flow')).length);
        if (seen.length === 2) throw new Error('in the way');
      };
      await connection.applyBundle([addFlow(base(1))], { guard });
      await assert.rejects(connection.applyBundle([addFlow(base(2))], { guard }), /^Error: in the way$/);
      assert.deepEqual([seen, await listFlows(connection)], [[0, 1], [base(1)]]);
      await connection.applyBundle([addFlow(base(2))]);
    },
  },
  {
    name: 'a bundle that is committed at once is made but for the changes that are refused when they are sent',
    run: async (connection) => {
      await connection.send([addFlow(base(1)), addFlow(base(2))]);
      const changes = [deleteFlow(base(1)), deleteFlow(base(2, { match: { tcp_dst: 4 } })), addFlow(base(3))];
      await assert.rejects(connection.applyBundle(changes, { eager: true }), {
        code: 'OFPBMC_BAD_PREREQ',
      });
      assert.deepEqual(await listFlows(connection), [base(2), base(3)]);
      await connection.applyBundle([deleteFlow(base(2))], { eager: true });
      assert.deepEqual(await listFlows(connection), [base(3)]);
    },
  },
];

const groupCases: readonly Case[] = [
  {
    name: 'a group is added once, modified, and deleted with the flows that send to it',
    run: async (connection) => {
      const group: Group = { id: 1, type: 'all', buckets: [{ actions: [output(1)] }] };
      const changed: Group = { id: 1, type: 'select', buckets: [{ weight: 3, actions: [output(1)] }] };
      await connection.send([addGroup(group)]);
      assert.equal(await outcome(connection, addGroup(group)), 'OFPGMFC_GROUP_EXISTS');
      await connection.send([modifyGroup(changed)]);
      assert.deepEqual(await connection.dump('groupDescription'), [changed]);
      await connection.send([addFlow(base(1, { write: [{ type: 'group', group: 1 }] })), deleteGroup(1)]);
      assert.deepEqual(await listFlows(connection), []);
      assert.deepEqual(await connection.dump('groupDescription'), []);
      await connection.send([deleteGroup(1)]);
    },
  },
  {
    name: 'groups count the flows that send to them',
    run: async (connection) => {
      const actions = [{ type: 'group', group: 2 }] as const;
      await connection.send([
        addGroup({ id: 2, type: 'all', buckets: [{ actions: [] }] }),
        addFlow(base(1, { actions })),
      ]);
      const [statistics] = await connection.dump('group');
      assert.deepEqual([statistics?.references, statistics?.buckets.length], [1, 1]);
    },
  },
];

const otherCases: readonly Case[] = [
  {
    name: 'a dump of more than one message is complete',
    run: async (connection) => {
      const flows = [...Array(3000).keys()].map((index) => base(7, { match: { reg0: index } }));
      await connection.applyBundle(flows.map(addFlow));
      const found = (await connection.dump('flow')).map(({ flow }) => Number(flow.match?.reg0));
      assert.deepEqual(
        found.sort((a, b) => a - b),
        flows.map((_, index) => index),
      );
      const tables = await connection.dump('table');
      assert.equal(tables.length, connection.features.tables);
      assert.equal(tables[7]?.active, 3000);
    },
  },
  {
    name: 'the removal of a flow is reported when the flow says so',
    run: async (connection) => {
      const events = await connection.watch(['flow_removed']);
      const flow = base(3, { flags: ['send_flow_rem'], cookie: '0x7' });
      await connection.send([addFlow(base(2)), addFlow(flow), deleteFlows()]);
      for await (const event of events) {
        assert.equal(event.type, 'flow_removed');
        if (event.type === 'flow_removed') {
          const { reason, table, priority, match, cookie } = event;
          const expected = { reason: 'delete', table: 3, priority: 5, match: { in_port: 1 }, cookie: '0x7' };
          assert.deepEqual({ reason, table, priority, match, cookie }, expected);
        }
        break;
      }
    },
  },
  {
    name: 'a packet for a group that is not there is refused',
    run: async (connection) => {
      const packet = Buffer.alloc(60);
      const refusal = async (actions: readonly Action[], bytes: Uint8Array): Promise<unknown> =>
        connection.send([{ type: 'packet_out', inPort: 4, actions, packet: bytes }]).then(
          () => 'ok',
          (error: unknown) => (error as SwitchError).code,
        );
      assert.equal(await refusal([{ type: 'group', group: 99 }], packet), 'OFPBAC_BAD_OUT_GROUP');
      assert.equal(await refusal([{ type: 'output', port: 5 }], packet), 'ok');
    },
  },
  {
    name: 'ports are described',
    run: async (connection) => {
      const ports = await connection.dump('portDescription');
      assert.equal(ports.find(({ port }) => port === 3)?.name, 'p3');
      assert.equal((await connection.dump('port')).length, ports.length);
    },
  },
];

export const changeCases: readonly Case[] = [...flowCases, ...bundleCases, ...groupCases, ...otherCases];
