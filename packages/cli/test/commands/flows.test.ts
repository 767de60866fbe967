/** `podwire flows` against fake switches behind real sockets. */
import fs from 'node:fs';
import path from 'node:path';
import { encodeMessage, type Flow, parseFlow } from '@podwire/openflow';
import { describe, expect, onTestFinished, test } from 'vitest';
import { breakOutput } from '../../src/interrupt.js';
import { run, type RunOptions, startFakeAgent } from '../support.js';
import { type Accept, createSwitch, goldenFlows, pipeTo, serve } from '../flows/switches.js';
import { makeTemporaryDirectory } from '../temporary.js';

async function runFlows(flows: readonly Flow[], words: readonly string[] = [], options: RunOptions = {}) {
  const runDir = await serve({ 'br0.mgmt': pipeTo(await createSwitch(flows)) });
  return run(['flows', '--run-dir', runDir, ...words], options);
}

const linesOf = ({ stdout }: { readonly stdout: string }): string[] => stdout.trimEnd().split('\n');
const headings = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('table '));
/** Flows without the columns in front. */
const flowsOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /(?:priority|cookie)=.*$/.exec(line)?.[0] ?? []);

describe('all flows of a bridge', () => {
  test.each(['multitenant', 'subnet'])('of OpenShift SDN have tables with purposes (%s)', async (mode) => {
    const golden = goldenFlows(mode);
    const lines = linesOf(await runFlows(golden));
    expect(lines[0]).toBe(`br0: OpenShift SDN, ${mode}, rule version 13; ${golden.length} flows`);
    expect(headings(lines)).toContain('table 31: chooses the way by destination');
    expect(headings(lines).every((line) => line.includes(': '))).toBe(true);
    expect(flowsOf(lines)).toHaveLength(golden.length);
    expect(lines).toContain('      0       0   others   priority=300,ip,ip_dst=10.128.2.1 actions=output:2');
  });

  test('are in the order in which packets meet them', async () => {
    const shuffled = goldenFlows('multitenant').reverse();
    const lines = linesOf(await runFlows(shuffled));
    const numbers = headings(lines).map((line) => parseInt(line.slice('table '.length), 10));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const table80 = lines.slice(lines.findIndex((line) => line.startsWith('table 80')));
    const priorities = flowsOf(table80.slice(0, 6)).map((text) => parseInt(text.slice(9), 10));
    expect(priorities).toEqual([300, 200, 200, 100, 0]);
  });

  test('of networkpolicy, the third mode of OpenShift, have purposes too', async () => {
    const lines = linesOf(await runFlows([parseFlow('table=253,actions=note:02.0d')]));
    expect(lines[0]).toBe('br0: OpenShift SDN, networkpolicy, rule version 13; 1 flow');
    expect(headings(lines)).toEqual(['table 253: holds the version of these flows; no packet comes here']);
  });

  test.each([
    [
      'another rule version',
      'table=253,actions=note:01.0c',
      'br0: OpenShift SDN, multitenant, rule version 12; 1 flow',
      'tables are without their purposes: only those of rule version 13 are known',
    ],
    [
      'no note',
      'table=253,actions=drop',
      'br0: 1 flow',
      'tables are without their purposes: no note in table 253 says that these are the tables of OpenShift SDN',
    ],
    [
      'a note of another program',
      'table=253,actions=note:01.0d.09',
      'br0: 1 flow',
      'tables are without their purposes: no note in table 253 says that these are the tables of OpenShift SDN',
    ],
  ])('of %s have no purposes, and the reason is said', async (_, text, first, reason) => {
    const lines = linesOf(await runFlows([parseFlow(text)]));
    expect(lines.slice(0, 2)).toEqual([first, reason]);
    expect(headings(lines)).toEqual(['table 253']);
  });

  test('show whose they are: by the mark in the cookie', async () => {
    const texts = [
      'cookie=0x706f647777656200,table=3,priority=9,actions=drop',
      'cookie=0x706f647700000000,table=3,priority=8,actions=drop',
      'cookie=0x5,table=3,priority=7,actions=drop',
    ];
    const lines = linesOf(await runFlows(texts.map(parseFlow)));
    expect(lines.slice(-3).map((line) => line.replace(/^[ 0]+(?=\w+ )/, ''))).toEqual([
      'podwire 0x77656200   priority=9 actions=drop',
      'podwire              priority=8 actions=drop',
      'others               cookie=0x5,priority=7 actions=drop',
    ]);
  });

  test('count packets, and with --stats those of a table, and have an age', async () => {
    const fake = await createSwitch([parseFlow('table=0,ip,actions=2')]);
    for (let sent = 0; sent < 3; sent++) fake.evaluate({ in_port: 3, eth_type: 0x0800 });
    const runDir = await serve({ 'br0.mgmt': pipeTo(fake) });
    const lines = linesOf(await run(['flows', '--run-dir', runDir, '--stats']));
    expect(lines.slice(-4)).toEqual([
      'PACKETS   BYTES   AGE   OWNER    FLOW',
      '',
      'table 0 (0 lookups, 0 matched)',
      '      3       0    0s   others   priority=32768,ip actions=output:2',
    ]);
  });

  test('continue on a narrow terminal below their beginning, and nothing is cut', async () => {
    const terminal = { terminal: true, columns: 74 };
    const { stdout } = await runFlows(goldenFlows('multitenant'), ['--table', '20', '--no-color'], terminal);
    expect(stdout.split('\n').slice(3, 13)).toEqual([
      '',
      'table 20: drops what is not from the address of the pod, and sets the',
      '  project of the rest',
      '      0       0   others   priority=300,udp,udp_dst=4789 actions=drop',
      '      0       0   others   priority=100,in_port=3,arp,arp_spa=10.128.2.2,',
      '                           arp_sha=00:00:0a:80:02:02/00:00:ff:ff:ff:ff',
      '                           actions=load:0x2a->reg0[],goto_table:30',
      '      0       0   others   priority=100,in_port=3,ip,ip_src=10.128.2.2',
      '                           actions=load:0x2a->reg0[],goto_table:27',
      '      0       0   others   priority=100,in_port=4,arp,arp_spa=10.128.2.3,',
    ]);
  });
});

test('--table chooses tables, and the note is read all the same', async () => {
  const lines = linesOf(await runFlows(goldenFlows('subnet'), ['--table', '40,90']));
  expect(lines[0]).toMatch(/^br0: OpenShift SDN, subnet, rule version 13; 5 of \d+ flows$/);
  expect(headings(lines)).toEqual([
    'table 40: ARP to pods of this node',
    'table 90: packets to pods of other nodes, through the tunnel',
  ]);
});

test('-o json has the flows as the library has them', async () => {
  const ours = 'cookie=0x706f647700000007,table=20,priority=5,tcp,tcp_dst=80,actions=output:3';
  const golden = goldenFlows('multitenant');
  const { stdout } = await runFlows([...golden, parseFlow(ours)], ['--table', '20', '-o', 'json']);
  const view = JSON.parse(stdout) as { tables: { flows: { flow: Flow }[] }[] };
  expect(view).toMatchObject({
    bridge: 'br0',
    sdn: { mode: 'multitenant', version: 13 },
    total: golden.length + 1,
    tables: [{ table: 20, lookups: 0, matches: 0 }],
  });
  const flows = view.tables[0]!.flows;
  expect(flows.map(({ flow }) => flow)).toEqual(
    [...golden.filter(({ table }) => table === 20), parseFlow(ours)].sort(
      (a, b) => b.priority! - a.priority!,
    ),
  );
  expect(flows.at(-2)).toEqual({
    ...{ flow: parseFlow(ours), packets: 0, bytes: 0, duration: 0 },
    ...{ owner: 'podwire', mark: 7 },
  });
});

describe('flows of a pod', () => {
  const expected = [
    'priority=100,in_port=3,arp,arp_spa=10.128.2.2,arp_sha=00:00:0a:80:02:02/00:00:ff:ff:ff:ff actions=load:0x2a->reg0[],goto_table:30',
    'priority=100,in_port=3,ip,ip_src=10.128.2.2 actions=load:0x2a->reg0[],goto_table:27',
    'priority=100,ip,ip_src=10.128.2.2 actions=load:0x2a->reg0[],goto_table:27',
    'priority=100,arp,arp_tpa=10.128.2.2 actions=output:3',
    'priority=100,ip,ip_dst=10.128.2.2 actions=load:0x2a->reg1[],load:0x3->reg2[],goto_table:80',
    'priority=100,reg0=0x2a actions=output:3',
  ];

  test('by address need no agent; the port is the one from which the address comes', async () => {
    const lines = linesOf(await runFlows(goldenFlows('multitenant'), ['10.128.2.2']));
    expect(lines[0]).toMatch(/; 6 of 68 flows$/);
    expect(lines[1]).toBe('10.128.2.2: 10.128.2.2, port 3');
    expect(flowsOf(lines)).toEqual(expected);
  });

  test('by name have the address and the link that the agent knows', async () => {
    const endpoint = { addresses: ['10.128.2.2'], hostInterface: 'veth3' };
    const agent = await startFakeAgent({ 'GET /v1/endpoints/shop%2Fweb': { body: endpoint } });
    onTestFinished(() => agent.close());
    const words = ['web', '-n', 'shop', '--socket', agent.socket];
    const lines = linesOf(await runFlows(goldenFlows('multitenant'), words));
    expect(lines[1]).toBe('pod shop/web: 10.128.2.2, port 3');
    expect(flowsOf(lines)).toEqual(expected);
  });

  test('are found in NAT, in actions within actions, and by the link alone', async () => {
    const endpoint = { addresses: ['10.1.0.9'], hostInterface: 'veth4' };
    const agent = await startFakeAgent({ 'GET /v1/endpoints/web': { body: endpoint } });
    onTestFinished(() => agent.close());
    const about = [
      'priority=3,ip actions=ct(commit,nat(dst=10.1.0.2-10.1.0.9))',
      'priority=2 actions=clone(output:4),output:2',
      'priority=1,in_port=4 actions=drop',
    ];
    const others = ['priority=6,ip,ip_dst=10.1.0.90 actions=drop', 'priority=5 actions=load:0x4->reg2[]'];
    const flows = [...others, ...about].map((text) => parseFlow(text));
    const lines = linesOf(await runFlows(flows, ['pod/web', '--socket', agent.socket]));
    expect(flowsOf(lines)).toEqual(about);
  });

  test('are none where nothing mentions it', async () => {
    const { code, stdout } = await runFlows(goldenFlows('multitenant'), ['192.0.2.77']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'br0: OpenShift SDN, multitenant, rule version 13; 0 of 68 flows\n192.0.2.77: 192.0.2.77\n',
    });
  });

  test('by name, without an agent, end with advice to give the address', async () => {
    const socket = path.join(makeTemporaryDirectory(), 'api.sock');
    const { code, stderr } = await runFlows([], ['pod/web', '--socket', socket]);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'give the IPv4 address of the pod in place of its name.\ncode: AGENT_UNREACHABLE',
    );
  });
});

describe('a bridge that cannot be asked', () => {
  const ask = async (bridges: Readonly<Record<string, Accept>>, ...words: string[]) => {
    const runDir = await serve(bridges);
    const { code, stderr, stdout } = await run(['flows', '--run-dir', runDir, ...words]);
    return { code, stdout, stderr: stderr.replaceAll(runDir, 'RUN') };
  };
  const failed = (...lines: string[]) => ({ code: 1, stdout: '', stderr: `${lines.join('\n')}\n` });

  test('has no socket: those that have one are named', async () => {
    expect(await ask({ 'br-ex.mgmt': () => 0, 'br-int.mgmt': () => 0 })).toEqual(
      failed(
        'error: bridge br0 has no socket RUN/br0.mgmt; there are br-ex, br-int',
        'what to do: Name the bridge with --bridge. Where there is none at all, start Open vSwitch (ovs-vswitchd), or say with --run-dir where its sockets are.',
        'code: SWITCH_UNAVAILABLE',
      ),
    );
  });

  test('has a socket on which nothing listens', async () => {
    const runDir = makeTemporaryDirectory();
    // A file that is no socket is refused in the same way as a socket that was left behind.
    fs.writeFileSync(path.join(runDir, 'br0.mgmt'), '');
    const { code, stderr } = await run(['flows', '--run-dir', runDir]);
    expect({ code, stderr: stderr.replaceAll(runDir, 'RUN') }).toEqual({
      code: 1,
      stderr: [
        'error: nothing listens on RUN/br0.mgmt',
        'what to do: Start Open vSwitch again: ovs-vswitchd has ended and left the file behind.',
        'code: SWITCH_UNAVAILABLE\n',
      ].join('\n'),
    });
  });

  test('speaks OpenFlow 1.3 alone', async () => {
    // Type 0, code 0: no version in common; OpenFlow 1.3 has the same header with version 4.
    const refuse: Accept = (socket) => {
      const message = encodeMessage({
        xid: 0,
        message: { type: 'error', error: { type: 0, code: 0 }, data: Buffer.alloc(0) },
      });
      socket.write(message);
    };
    expect(await ask({ 'br0.mgmt': refuse })).toEqual(
      failed(
        'error: bridge br0 does not speak OpenFlow 1.4',
        'what to do: `ovs-vsctl add Bridge br0 protocols OpenFlow14` allows it beside the versions that the bridge has. Its flows stay as they are.',
        'code: SWITCH_UNAVAILABLE',
      ),
    );
  });

  test('does not answer in time', async () => {
    expect(await ask({ 'br0.mgmt': () => undefined }, '--timeout', '0.02')).toEqual(
      failed(
        'error: bridge br0 has not answered for 0.02 s',
        'what to do: Look whether ovs-vswitchd is stopped or busy (`top`, its log); --timeout allows more seconds.',
        'code: SWITCH_UNAVAILABLE',
      ),
    );
  });

  test('ends the connection', async () => {
    const { code, stderr } = await ask({ 'br0.mgmt': (socket) => socket.destroy() });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: bridge br0 cannot be asked: .+\nwhat to do: Look into the log/);
  });

  test('is left at once when the command is interrupted', async () => {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const answer = ask({ 'br0.mgmt': () => isAsked() }, '--timeout', '60');
    await asked;
    breakOutput();
    expect(await answer).toEqual({ code: 141, stdout: '', stderr: '' });
  });
});

test.each(['255', '1,x', '', '1,,2'])('refuses the list of tables "%s"', async (list) => {
  const { code, stderr } = await run(['flows', '--table', list]);
  expect(code).toBe(2);
  expect(stderr).toContain('Tables are numbers from 0 to 254');
});
