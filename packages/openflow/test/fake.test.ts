import { describe, expect, test } from 'vitest';
import { addFlow, connectSwitch, deleteFlows, parseFlow, type SwitchEvent } from '../src/index.js';
import { type EvaluatedOutput, FakeSwitch, parsePacket } from '../src/fake/index.js';
import { testFlowChanges } from './flow-changes.js';
import { packets } from './packets.js';
import { nine } from './ports.js';

describe('the fake switch', () => {
  test('refuses one change as it is told, and with it the whole bundle', async () => {
    const fake = new FakeSwitch();
    const connection = await connectSwitch(fake.connect());
    fake.refuseChange('OFPFMFC_TABLE_FULL', 1);
    await expect(connection.applyBundle([addFlow({}), addFlow({ table: 1 })])).rejects.toMatchObject({
      failures: [{ index: 1, name: 'OFPFMFC_TABLE_FULL' }],
    });
    expect(fake.flows()).toEqual([]);
    await connection.applyBundle([addFlow({}), addFlow({ table: 1 })]);
    expect(fake.flows().map(({ table }) => table)).toEqual([0, 1]);
  });

  test('ends its connections and forgets its flows when it is restarted', async () => {
    const fake = new FakeSwitch();
    const connection = await connectSwitch(fake.connect());
    await connection.send([addFlow({})]);
    fake.restart();
    expect(await connection.closed).toMatchObject({ code: 'ECONNRESET' });
    const next = await connectSwitch(fake.connect());
    expect(await next.dump('flow')).toEqual([]);
  });

  test('reports ports that come, change and go', async () => {
    const [first] = nine;
    const fake = new FakeSwitch();
    const connection = await connectSwitch(fake.connect());
    const events = await connection.watch(['port_status']);
    fake.setPort(first!);
    fake.setPort({ ...first!, hasLink: false });
    fake.removePort(1);
    fake.removePort(1);
    const seen: SwitchEvent[] = [];
    for await (const event of events) if (seen.push(event) === 3) break;
    const description = { ...first!, hasLink: false };
    expect(seen).toEqual([
      { type: 'port_status', change: 'add', description: first },
      { type: 'port_status', change: 'modify', description },
      { type: 'port_status', change: 'delete', description },
    ]);
  });

  test('reports the flows that another connection changes', async () => {
    const fake = new FakeSwitch();
    await testFlowChanges(await connectSwitch(fake.connect()), await connectSwitch(fake.connect()));
  });

  test('says how long a flow is there', async () => {
    let now = 1_000;
    const connection = await connectSwitch(new FakeSwitch({ now: () => now }).connect());
    await connection.send([deleteFlows(), addFlow({})]);
    now += 2_500;
    expect((await connection.dump('flow'))[0]?.duration).toBe(2.5);
  });
});

describe('a packet that is sent', () => {
  test.each(packets)('has the fields of %s', (_, hex, fields) => {
    expect(parsePacket(Buffer.from(hex, 'hex'))).toEqual(fields);
  });

  test('that is cut is refused', async () => {
    const connection = await connectSwitch(new FakeSwitch().connect());
    const packet = Buffer.from(packets[0]![1], 'hex').subarray(0, 40);
    const sent = connection.send([
      { type: 'packet_out', actions: [{ type: 'output', port: 'TABLE' }], packet },
    ]);
    await expect(sent).rejects.toMatchObject({ code: 'OFPBRC_BAD_LEN' });
  });

  test('goes through its actions and the tables, and is counted', async () => {
    const outputs: unknown[] = [];
    const onOutput = (output: EvaluatedOutput): unknown => outputs.push([output.port, output.packet.reg0]);
    const connection = await connectSwitch(new FakeSwitch({ ports: nine, onOutput }).connect());
    await connection.send([addFlow(parseFlow('tcp,in_port=4,tp_dst=80,actions=load:7->reg0[],5'))]);
    const packet = Buffer.from(packets[0]![1], 'hex');
    const actions = [
      { type: 'output', port: 6 },
      { type: 'output', port: 'TABLE' },
    ] as const;
    await connection.send([{ type: 'packet_out', inPort: 4, actions, packet }]);
    expect(outputs).toEqual([
      [6, undefined],
      [5, 7],
    ]);
    const [entry] = await connection.dump('flow');
    expect([entry?.packets, entry?.bytes]).toEqual([1, packet.length]);
  });
});
