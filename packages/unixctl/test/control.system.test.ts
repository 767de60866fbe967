/** The client and the reader against a real ovs-vswitchd; the other client is ovs-appctl. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { type Control, findControlSocket, findOutputs, openControl, readTrace } from '@podwire/unixctl';
import { followPacket } from './example.js';

let real: OpenVSwitch;
let control: Control;

before(async () => {
  real = await OpenVSwitch.startWithBridge();
  control = await openControl(await findControlSocket(real.runDirectory, 'ovs-vswitchd'));
});
after(async () => {
  // A start that has failed leaves them out.
  (control as Control | undefined)?.close();
  await (real as OpenVSwitch | undefined)?.close();
});

test('a command has the answer that ovs-appctl prints', async () => {
  for (const [command, ...words] of [
    ['version'],
    ['list-commands'],
    ['bond/list'],
    ['fdb/show', 'br0'],
  ] as const)
    assert.equal(await control.call(command, words), await real.appctl(command, ...words));
});

test('many commands at a time have each its own answer', async () => {
  const flows = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((port) => `in_port=${port}`);
  const answers = await Promise.all(flows.map((flow) => control.call('ofproto/trace', ['br0', flow])));
  assert.deepEqual(
    answers.map((answer) => /in_port=\d/.exec(answer)?.[0]),
    flows,
  );
});

test('a command that cannot be carried out is refused in the words of ovs-vswitchd', async () => {
  await assert.rejects(control.call('ofproto/trace', ['br7', 'ip']), {
    code: 'REFUSED',
    message: 'ofproto/trace: br7: unknown bridge',
  });
  await assert.rejects(control.call('no/such-command'), {
    code: 'REFUSED',
    message: /^no\/such-command: "no\/such-command" is not a valid command/,
  });
});

test('the socket is found again after a restart, and the old connection says that it is over', async () => {
  const socket = await findControlSocket(real.runDirectory, 'ovs-vswitchd');
  await real.killDaemon();
  await assert.rejects(control.call('version'), { name: 'ControlError' });
  assert.ok(fs.existsSync(socket));
  await assert.rejects(openControl(socket), { code: 'NOT_SENT' });
  await real.startDaemon();
  const found = await findControlSocket(real.runDirectory, 'ovs-vswitchd');
  assert.notEqual(found, socket);
  control = await openControl(found);
  assert.match(await control.call('version'), /^ovs-vswitchd \(Open vSwitch\)/);
});

test('a daemon that is stopped ends a call at its deadline', async () => {
  real.freezeDaemon();
  try {
    await assert.rejects(control.call('version', [], { timeout: 50 }), { code: 'TIMEOUT' });
  } finally {
    real.thawDaemon();
  }
});

test('the example of the README follows a packet', async () => {
  await real.ofctl(['del-flows', 'BRIDGE']);
  await real.ofctl(['add-flows', 'BRIDGE', '-'], 'in_port=3,actions=goto_table:7\ntable=7,ip,actions=2');
  assert.deepEqual(await followPacket(real.runDirectory, 'br0', 'in_port=3,ip,nw_src=10.128.2.3'), [
    ...['table 0: in_port=3', 'table 7: ip', 'out of port 2'],
  ]);
  assert.deepEqual(await followPacket(real.runDirectory, 'br0', 'in_port=3,arp'), [
    ...['table 0: in_port=3', 'table 7: No match.'],
  ]);
});

/** Each kind of line that ovs-vswitchd prints, by flows and a packet. */
const cases: readonly (readonly [title: string, flows: readonly string[], ports: readonly unknown[]])[] = [
  ['a flow of one table', ['in_port=1,actions=output:2'], [2]],
  ['a packet that is dropped', ['in_port=1,actions=drop'], []],
  ['tables one behind the other', ['actions=goto_table:3', 'table=3,ip,actions=output:3'], [3]],
  [
    'tables from which the packet comes back',
    ['actions=resubmit(,3),output:4', 'table=3,ip,actions=output:2,resubmit(,9)'],
    [4, 2],
  ],
  [
    'connection tracking',
    [
      'ip,ct_state=-trk,actions=ct(table=0)',
      'ip,ct_state=+trk+new,actions=ct(commit,nat(dst=10.9.9.9),table=1)',
      'table=1,ip,nw_dst=10.9.9.9,actions=output:5',
    ],
    [5],
  ],
  ['an output from a register', ['actions=load:6->NXM_NX_REG2[],output:NXM_NX_REG2[]'], [6]],
  ['an output back to the port of the packet', ['actions=output:1'], []],
  ['a port that is not there', ['actions=output:77'], []],
  ['an action set', ['actions=write_actions(output:7),goto_table:1', 'table=1,actions=drop'], [7]],
  ['the bridge itself', ['actions=LOCAL'], ['LOCAL']],
  ['a packet for the controller', ['actions=controller,output:2'], ['CONTROLLER', 2]],
  ['the way of a plain switch', ['actions=NORMAL'], ['NORMAL']],
  ['tables in a circle', ['actions=resubmit(,0)'], []],
];

for (const [title, flows, ports] of cases)
  test(`a trace is read line by line: ${title}`, async () => {
    await real.ofctl(['del-flows', 'BRIDGE']);
    await real.ofctl(['add-flows', 'BRIDGE', '-'], flows.join('\n'));
    const packet = 'in_port=1,tcp,nw_src=10.1.0.1,nw_dst=10.1.0.2,nw_ttl=64,tp_src=1,tp_dst=80';
    const trace = readTrace(await control.call('ofproto/trace', ['br0', packet]));
    const others = trace.passes.flatMap((pass) => pass.others);
    assert.deepEqual(
      others.filter((line) => !/^(Replacing src|This flow is handled| )/.test(line)),
      [],
    );
    assert.deepEqual(
      findOutputs(trace).map(({ port }) => port),
      ports,
    );
    for (const { datapathActions, flow, finalFlow, megaflow } of trace.passes)
      assert.ok(![datapathActions, flow, finalFlow, megaflow].includes(''));
  });
