/** Flows of others on one bridge, with fields that this library does not know: a dump has them beside its own. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addFlow, deleteFlow, deleteFlows, type Flow, formatFlow, parseFlow } from '@podwire/openflow';
import { useSwitch } from './private-switch.js';

const options = '{class=0xffff,type=0,len=4}->tun_metadata0,{class=0xffff,type=1,len=124}->tun_metadata1';
const used = useSwitch((real) => real.ofctl(['add-tlv-map', 'BRIDGE', options]));
beforeEach(() => used.connection.applyBundle([deleteFlows()]));

const own: Flow = { table: 0, priority: 7, match: { in_port: 1 }, cookie: '0x5', goto: 9 };
const sendTo2 = { actions: [{ type: 'output', port: 2 }] } as const;
const dumpFlows = async (): Promise<Flow[]> => (await used.connection.dump('flow')).map(({ flow }) => flow);
const theirText = (): Promise<string> =>
  used.real.ofctl(['dump-flows', '--no-stats', '--no-names', 'BRIDGE']);

const eachOption = '55'.repeat(124);
const matches: readonly (readonly [text: string, match: Flow['match']])[] = [
  ['tun_metadata0=0x1234', { raw: ['0001500400001234'] }],
  ['tcp,tun_metadata0=0x1200/0xff00', { eth_type: 0x0800, ip_proto: 6, raw: ['00015108000012000000ff00'] }],
  [`tun_metadata1=0x${eachOption}`, { raw: [`0001527c${eachOption}`] }],
  [
    'dl_type=0x894f,nsh_mdtype=1,nsh_spi=0x123',
    { eth_type: 0x894f, raw: ['ffff0405005ad65001', 'ffff0808005ad65000000123'] },
  ],
  ['packet_type=(1,0x800),nw_src=10.0.0.1', { ip_src: '10.0.0.1', raw: ['8000580400010800'] }],
];

for (const [text, match] of matches)
  test(`a dump lists ${text.slice(0, 60)} beside our flow, and it is added again as it was`, async () => {
    await used.real.ofctl(['add-flow', 'BRIDGE', `table=1,priority=9,${text},actions=output:2`]);
    await used.connection.applyBundle([addFlow(own)]);
    const foreign: Flow = { table: 1, priority: 9, match: match!, ...sendTo2 };
    assert.deepEqual(await dumpFlows(), [own, foreign]);

    const before = await theirText();
    await used.connection.applyBundle([deleteFlow(foreign)]);
    assert.deepEqual(await dumpFlows(), [own]);
    await used.connection.applyBundle([addFlow(parseFlow(formatFlow(foreign)))]);
    assert.equal(await theirText(), before);
  });

test('our flows are replaced by their cookie, and a flow of others stays', async () => {
  await used.real.ofctl(['add-flow', 'BRIDGE', 'table=1,cookie=0x9,tun_metadata0=0x1,actions=drop']);
  await used.connection.applyBundle([addFlow(own)]);
  const theirs = (await dumpFlows()).filter(({ cookie }) => cookie === '0x9');
  assert.equal(theirs.length, 1);
  const next = { ...own, match: { in_port: 3 } };
  await used.connection.applyBundle([deleteFlows({ cookieFilter: '0x5' }), addFlow(next)]);
  assert.deepEqual(await dumpFlows(), [next, ...theirs]);
});

test('actions with unknown fields are dumped as bytes, and added again as they were', async () => {
  const actions = [
    'set_field:0x5->tun_metadata0,move:NXM_NX_TUN_METADATA0[0..15]->NXM_NX_REG0[0..15]',
    'clone(set_field:0x6->nsh_ttl),learn(table=3,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[])',
  ];
  await used.real.ofctl([
    'add-flow',
    'BRIDGE',
    `table=1,priority=9,dl_type=0x894f,actions=${actions.join(',')},output:2`,
  ]);
  const before = await theirText();
  const [flow] = await dumpFlows();
  assert.deepEqual(
    flow?.actions?.map(({ type }) => type),
    ['raw', 'raw', 'clone', 'raw', 'output'],
  );
  await used.connection.applyBundle([deleteFlows(), addFlow(flow)]);
  assert.equal(await theirText(), before);
});
