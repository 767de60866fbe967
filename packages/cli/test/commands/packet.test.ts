/** `podwire packet trace` against a fake switch and a daemon that answers with what ovs-vswitchd has printed. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseFlow } from '@podwire/openflow';
import { createNamedCluster } from '../packet/named-cluster.js';
import { run, type RunOptions } from '../support.js';
import { type Accept, goldenFlows } from '../flows/switches.js';
import { answer, type Asked, recorded, startNode } from '../packet/daemons.js';

async function runTrace(accept: Accept, words: readonly string[], options: RunOptions = {}) {
  const runDir = await startNode(accept);
  const result = await run(['packet', 'trace', '--run-dir', runDir, ...words], options);
  return { ...result, stderr: result.stderr.replaceAll(runDir, 'RUN') };
}

const endOf = ({ stdout }: { readonly stdout: string }): string =>
  stdout.trimEnd().split('\n\nThe way goes on')[0]!.split('\n').at(-1)!;
const toPod = ['--from', '10.128.2.2', '--to', '10.128.2.3'];

const toOther = ['--from', '10.128.2.4', '--to', '10.128.2.2', '--tcp', '80'];

test('asks for the packet of a pod, by its address', async () => {
  const asked: Asked[] = [];
  await runTrace(answer({ result: recorded('project-default') }, asked), [...toPod, '--tcp', '80']);
  const [{ method, params: [bridge, packet] = [] } = {}] = asked;
  expect([method, bridge]).toEqual(['ofproto/trace', 'br0']);
  expect(packet!.split(',').sort()).toEqual([
    ...['eth_dst=0a:58:0a:80:02:03', 'eth_src=0a:58:0a:80:02:02', 'in_port=3', 'ip_dst=10.128.2.3'],
    ...['ip_src=10.128.2.2', 'nw_ttl=64', 'tcp', 'tcp_dst=80', 'tcp_src=50000'],
  ]);
});

test.each([
  ['UDP', ['--udp', '53'], ['udp', 'udp_dst=53', 'udp_src=50000']],
  ['an echo request', ['--icmp'], ['icmp', 'icmp_code=0', 'icmp_type=8']],
  ['an echo request when nothing else is said', [], ['icmp', 'icmp_code=0', 'icmp_type=8']],
])('asks for a packet of %s', async (_, words, terms) => {
  const asked: Asked[] = [];
  await runTrace(answer({ result: recorded('project-default') }, asked), [...toPod, ...words]);
  expect(asked[0]!.params[1]!.split(',')).toEqual(expect.arrayContaining(terms));
});

test('shows each table with the flow that decides there, and the end', async () => {
  const terminal = { terminal: true, columns: 80, env: { NO_COLOR: '1' } };
  const { code, stdout } = await runTrace(answer({ result: recorded('other-project') }), toOther, terminal);
  expect(code).toBe(4);
  expect(stdout.split('\n')).toEqual([
    'br0: OpenShift SDN, multitenant, rule version 13',
    'TCP from 10.128.2.4, port 5 of the bridge, to 10.128.2.2:80',
    '',
    'table 0: tracks connections, and sorts packets by the port that they come from',
    '  others   priority=1000,ip,ct_state=-trk actions=ct(table=0)',
    'connection tracking gives the packet back, as the first packet of a connection',
    '  (ct_state=trk|new)',
    'table 0',
    '  others   priority=100,ip actions=goto_table:20',
    'table 20: drops what is not from the address of the pod, and sets the project of',
    '  the rest',
    '  others   priority=100,in_port=5,ip,ip_src=10.128.2.4',
    '           actions=load:0x7->reg0[],goto_table:27',
    'table 27: egress rules of network policies',
    '  others   priority=500 actions=goto_table:30',
    'table 30: commits connections, where policies look at them',
    '  others   priority=0 actions=goto_table:31',
    'table 31: chooses the way by destination',
    '  others   priority=200,ip,ip_dst=10.128.2.0/23 actions=goto_table:70',
    'table 70: sets project and port of the pod of this node that a packet is for',
    '  others   priority=100,ip,ip_dst=10.128.2.2',
    '           actions=load:0x2a->reg1[],load:0x3->reg2[],goto_table:80',
    'table 80: keeps projects apart, and ingress rules of network policies',
    '  others   priority=0 actions=drop',
    '',
    'dropped in table 80: no flow lets VNID 7 reach VNID 42',
    '',
  ]);
});

test.each([
  ['project-default', 0, 'delivered to port 4 (veth4)'],
  ['tunnel', 0, 'sent through the tunnel to node 192.0.2.2, with VNID 42'],
  ['native-tunnel', 0, 'sent through the tunnel to node 192.0.2.2, with VNID 42'],
  ['no-route', 4, 'dropped in table 90: native tunnel routing failed'],
  [
    'no-neighbor',
    4,
    'dropped in table 90: neighbor cache miss for 192.0.2.2 on bridge br-phy, sending ARP request: run it again when the answer has come',
  ],
  ['out-of-cluster', 0, 'sent out of the cluster through tun0'],
  ['forged', 4, 'dropped in table 20: no flow accepts packets from 10.128.2.2 at port 3'],
  ['no-pod', 4, 'dropped in table 70: no pod of this node has the address 10.128.2.3'],
  ['too-deep', 4, 'dropped: ovs-vswitchd has given up (Recursion too deep)'],
])('says in one sentence what becomes of the packet (%s)', async (name, code, end) => {
  const result = await runTrace(answer({ result: recorded(name) }), toPod);
  expect({ code: result.code, end: endOf(result) }).toEqual({ code, end });
});

test('shows warnings of ovs-vswitchd below the flow, and lines that it does not understand', async () => {
  const text = `${recorded('multicast')}This flow is something new.\n`;
  const { stdout } = await runTrace(answer({ result: text }), toPod);
  const lines = stdout.split('\n');
  expect(lines[lines.indexOf('  others   priority=100,reg0=0x2a actions=output:3') + 1]).toBe(
    '    skipping output to input port',
  );
  expect(lines).toContain('This flow is something new.');
});

test('continues a long flow below its beginning, whosever it is', async () => {
  const text = recorded('forged').replace(
    '20. priority 0',
    '20. ip,in_port=3,nw_src=10.128.2.2, priority 100',
  );
  const given = goldenFlows('multitenant').map((flow) =>
    flow.table === 20 && flow.match?.ip_src === '10.128.2.2'
      ? { ...flow, cookie: '0x706f647700000007' }
      : flow,
  );
  const runDir = await startNode(answer({ result: text }), given);
  const words = ['packet', 'trace', '--run-dir', runDir, '--no-color', ...toPod];
  const { stdout } = await run(words, { terminal: true, columns: 80 });
  expect(stdout).toContain(
    [
      '  podwire 0x00000007   priority=100,in_port=3,ip,ip_src=10.128.2.2',
      '                       actions=load:0x2a->reg0[],goto_table:27\n',
    ].join('\n'),
  );
});

test('shows a flow that is gone by now in the words of the trace', async () => {
  const text = recorded('forged').replace('20. priority 0', '20. udp,tp_dst=9, priority 7, cookie 0x5');
  const { stdout } = await runTrace(answer({ result: text }), toPod);
  expect(stdout).toContain('\n  priority=7,udp,tp_dst=9\n\ndropped in table 20\n');
});

test('-o json has the steps as data', async () => {
  const { stdout } = await runTrace(answer({ result: recorded('tunnel') }), [...toPod, '-o', 'json']);
  const view = JSON.parse(stdout) as { readonly hops: readonly { readonly steps: readonly object[] }[] };
  expect(view).toMatchObject({
    ...{ from: { address: '10.128.2.2' }, to: { address: '10.128.2.3' }, protocol: 'icmp', outcome: 'sent' },
    continued: [{ address: '192.0.2.2', command: expect.stringMatching(/^podwire packet trace /) as string }],
  });
  const [hop] = view.hops;
  expect(hop).toMatchObject({
    ...{ node: null, address: '192.0.2.1', bridge: 'br0', sdn: { mode: 'multitenant', version: 13 } },
    ...{ inPort: 3, tunnel: null, ctStates: ['trk|new'], others: [] },
    outputs: [{ port: 1, name: 'vxlan0', table: 90, tunnelDestination: '192.0.2.2', tunnelId: 42 }],
    ends: ['sent through the tunnel to node 192.0.2.2, with VNID 42'],
  });
  expect(hop!.steps.at(-1)).toMatchObject({
    ...{ pass: 1, table: 90, purpose: 'packets to pods of other nodes, through the tunnel' },
    found: { owner: 'others', packets: 0, flow: { priority: 100, match: { ip_dst: '10.128.4.0/23' } } },
  });
});

test('explains other tables than those of OpenShift SDN without their purposes, and bridges behind patch ports', async () => {
  const given = ['priority=65000,in_port=8,actions=20', 'priority=0,reg0=2,actions=1'].map(parseFlow);
  const runDir = await startNode(answer({ result: recorded('two-bridges') }), given);
  const words = ['--run-dir', runDir, '--in-port', 'veth3', ...toPod];
  const { stdout } = await run(['packet', 'trace', ...words]);
  expect(stdout.split('\n')).toEqual([
    'br0',
    'ICMP from 10.128.2.2, port 3 of the bridge, to 10.128.2.3',
    'tables are without their purposes: no note in table 253 says that these are the tables of OpenShift SDN',
    '',
    'table 0',
    '  others   priority=65000,in_port=8 actions=output:20',
    'br1, table 0',
    '  priority=0,reg0=0x2',
    '',
    'dropped in table 0 of bridge br1',
    '',
  ]);
});

test('says how the way of a packet goes on at a node that cannot be asked from here', async () => {
  const { stdout } = await runTrace(answer({ result: recorded('tunnel') }), [...toPod, '--tcp', '80']);
  expect(stdout.split('\n').slice(-5)).toEqual([
    'sent through the tunnel to node 192.0.2.2, with VNID 42',
    '',
    'The way goes on at node 192.0.2.2. Run there:',
    '  podwire packet trace --from 10.128.2.2 --to 10.128.2.3 --tcp 80 --tunnel-from 192.0.2.1 --vnid 42',
    '',
  ]);
});

describe('a packet that comes through the tunnel', () => {
  const words = '--from 10.128.2.2 --to 10.128.4.2 --tcp 80 --tunnel-from 192.0.2.1 --vnid'.split(' ');

  test('is asked for with its tunnel', async () => {
    const asked: Asked[] = [];
    const { code, stdout } = await runTrace(answer({ result: recorded('arrived') }, asked), [...words, '42']);
    expect(asked[0]!.params[1]!.split(',')).toEqual(
      expect.arrayContaining(['in_port=1', 'tun_src=192.0.2.1', 'tun_id=0x2a', 'ip_src=10.128.2.2']),
    );
    expect({ code, lines: stdout.split('\n').slice(1, 2), end: endOf({ stdout }) }).toEqual({
      code: 0,
      lines: ['TCP from 10.128.2.2, through the tunnel from node 192.0.2.1 with VNID 42, to 10.128.4.2:80'],
      end: 'delivered to port 3 (veth3)',
    });
  });

  test('is dropped where its project may not reach the pod', async () => {
    const dropped = await runTrace(answer({ result: recorded('arrived-other-project') }), [...words, '7']);
    const end = 'dropped in table 80: no flow lets VNID 7 reach VNID 42';
    expect({ code: dropped.code, end: endOf(dropped) }).toEqual({ code: 4, end });
  });
});

describe('pods by their names', () => {
  test('are those of the store, with names of nodes and projects', async () => {
    const cluster = await createNamedCluster();
    const runDir = await startNode(answer({ result: recorded('other-project') }));
    const words = ['packet', 'trace', '--run-dir', runDir, '--tcp', '80', '--from'];
    const { code, stdout } = await cluster.podwire([...words, 'pod/bank/teller', '--to', 'shop/web']);
    expect({ code, first: stdout.split('\n').slice(0, 2), end: endOf({ stdout }) }).toEqual({
      code: 4,
      first: [
        'n1, bridge br0: OpenShift SDN, multitenant, rule version 13',
        'TCP from pod bank/teller (10.128.2.4), port 5 of the bridge, to pod shop/web (10.128.2.2:80)',
      ],
      end: 'dropped on n1 in table 80: no flow lets VNID 7 (bank) reach VNID 42 (shop)',
    });
  });

  test('are refused where there is none of that name, or it is on another node', async () => {
    const cluster = await createNamedCluster();
    const runDir = await startNode(answer({ result: recorded('other-project') }));
    const refuse = async (from: string): Promise<string> => {
      const { code, stderr } = await cluster.podwire(
        `packet trace --run-dir ${runDir} --from ${from} --to shop/web`,
      );
      expect(code).toBe(1);
      return stderr;
    };
    expect(await refuse('pod/web')).toBe(
      'error: the store has no pod default/web\nwhat to do: Give its namespace with it, as NAMESPACE/NAME; or its IPv4 address in place of its name.\ncode: POD_UNKNOWN\n',
    );
    expect(await refuse('shop/db')).toBe(
      'error: no flow of bridge br0 accepts packets from pod shop/db (10.128.4.2) of n2\nwhat to do: Run the command on n2, or name with --in-port the port that the packet comes from.\ncode: REQUEST_INVALID\n',
    );
  });
});

describe('the port that the packet comes from', () => {
  const ask = (...words: string[]) => runTrace(answer({ result: recorded('forged') }), words);

  test('is unknown for an address that no flow accepts', async () => {
    expect(await ask('--from', '10.128.2.77', '--to', '10.128.2.2')).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: [
        'error: no flow of bridge br0 accepts packets from 10.128.2.77',
        'what to do: Give the address of a pod of this node, or with --in-port the port that the packet comes from.',
        'code: REQUEST_INVALID\n',
      ].join('\n'),
    });
  });

  test('may be named, for a sender that is forged', async () => {
    const words = ['--from', '10.128.2.77', '--to', '10.128.2.2', '--in-port'];
    const end = 'dropped in table 20: no flow accepts packets from 10.128.2.77 at port 4';
    expect(endOf(await ask(...words, '4'))).toBe(end);
    expect(endOf(await ask(...words, 'veth4'))).toBe(end);
    expect((await ask(...words, 'veth9')).stderr).toMatch(
      /^error: bridge br0 has no port veth9; it has vxlan0 \(1\), tun0 \(2\), veth3 \(3\), veth4 \(4\)\n/,
    );
  });
});

describe('a daemon that cannot be asked', () => {
  const fail = async (accept: Accept, ...words: string[]) => {
    const { code, stderr } = await runTrace(accept, [...toPod, ...words]);
    expect(code).toBe(1);
    return stderr;
  };
  const start =
    'what to do: Start Open vSwitch (ovs-vswitchd), or say with --run-dir where its files are, or with --target where its control socket is.\ncode: SWITCH_UNAVAILABLE\n';

  test('has no file with its process id', async () => {
    const runDir = await startNode(() => undefined);
    fs.rmSync(path.join(runDir, 'ovs-vswitchd.pid'));
    const { code, stderr } = await run(['packet', 'trace', '--run-dir', runDir, ...toPod]);
    expect({ code, stderr: stderr.replaceAll(runDir, 'RUN') }).toEqual({
      code: 1,
      stderr: `error: ovs-vswitchd cannot be asked: there is no RUN/ovs-vswitchd.pid, so ovs-vswitchd does not run\n${start}`,
    });
  });

  test('has no socket where it should be', async () => {
    const stderr = await fail(() => undefined, '--target', '/nonexistent/daemon');
    expect(stderr).toBe(
      `error: ovs-vswitchd cannot be asked: no connection to unix:/nonexistent/daemon: connect ENOENT /nonexistent/daemon\n${start}`,
    );
  });

  test('refuses what it is asked', async () => {
    expect(await fail(answer({ error: 'br0: unknown bridge\n' }))).toMatch(
      /^error: ovs-vswitchd cannot be asked: ofproto\/trace: br0: unknown bridge\nwhat to do: Look into the log of ovs-vswitchd, and try again\.\n/,
    );
  });
});

test.each([
  ['--to 10.1.0.1', "required option '--from <end>' not specified"],
  ['--from 10.1.0.1', "required option '--to <end>' not specified"],
  ['--from 10.1.0 --to 10.1.0.1', 'It must be a pod, as NAMESPACE/NAME, or an IPv4 address.'],
  ['--from 10.1.0.2 --to fd00::1', 'It must be a pod, as NAMESPACE/NAME, or an IPv4 address.'],
  ['--from 10.1.0.2 --to 10.1.0.1 --tunnel-from n1 --vnid 1', 'It must be an IPv4 address.'],
  ['--from 10.1.0.2 --to 10.1.0.1 --tunnel-from 192.0.2.1', '--tunnel-from and --vnid belong together'],
  ['--from 10.1.0.2 --to 10.1.0.1 --vnid 1', '--tunnel-from and --vnid belong together'],
  [
    '--from 10.1.0.2 --to 10.1.0.1 --tunnel-from 192.0.2.1 --vnid 16777216',
    'VNIDs are numbers from 0 to 16777215.',
  ],
  ['--from 10.1.0.2 --to 10.1.0.1 --tunnel-from 192.0.2.1 --vnid 1 --in-port 3', 'cannot be used with'],
  ['--from 10.1.0.2 --to 10.1.0.1 --tcp 0', 'Ports are numbers from 1 to 65535.'],
  ['--from 10.1.0.2 --to 10.1.0.1 --tcp 1 --udp 1', 'cannot be used with'],
  ['--from 10.1.0.2 --to 10.1.0.1 --icmp --udp 1', 'cannot be used with'],
  ['--from 10.1.0.2 --to 10.1.0.1 --testbed one --run-dir /run/other', 'cannot be used with'],
  ['--from 10.1.0.2 --to 10.1.0.1 --testbed one --target /run/other.ctl', 'cannot be used with'],
])('refuses %s', async (words, message) => {
  const { code, stderr } = await run(['packet', 'trace', ...words.split(' ')]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
