/** `podwire packet trace` as people run it, on a real ovs-vswitchd with the flows of OpenShift SDN. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { run, start } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { checkoutFile } from '../src/checkout.js';

let real: OpenVSwitch;
/** A node with pods 10.128.2.2 of VNID 42 and 10.128.2.3 of VNID 0. */
const golden = fs.readFileSync(checkoutFile('packages/networks/sdn/test/golden/v13-multitenant.txt'), 'utf8');

/** A pod of VNID 7, and another one of VNID 42. */
const more = [
  { ip: '10.128.2.4', port: 5, vnid: 7 },
  { ip: '10.128.2.5', port: 6, vnid: 42 },
].flatMap(({ ip, port, vnid }) => [
  `cookie=0x706f647700000005,table=20,priority=100,in_port=${port},ip,ip_src=${ip},actions=load:${vnid}->reg0[],goto_table:27`,
  `table=70,priority=100,ip,ip_dst=${ip},actions=load:${vnid}->reg1[],load:${port}->reg2[],goto_table:80`,
]);

before(async () => {
  real = await OpenVSwitch.startWithBridge();
  await real.ofctl(['add-flows', 'BRIDGE', '-'], [golden, ...more].join('\n'));
});
// A start that has failed leaves it out.
after(async () => (real as OpenVSwitch | undefined)?.close());

const argvOf = (words: readonly string[]): string[] => [
  ...[checkoutFile('bin/podwire'), 'packet', 'trace', '--timeout', '60', '--run-dir', real.runDirectory],
  ...words,
];

async function trace(
  words: string,
): Promise<{ readonly code: number | null; readonly lines: readonly string[] }> {
  const child = start(argvOf(words.split(' ')));
  const { code } = await child.exited;
  // On a busy machine it says there that it waits.
  assert.doesNotMatch(child.stderr(), /^(error|warning)/m);
  return { code, lines: child.stdout().trimEnd().split('\n') };
}

const cases: readonly (readonly [title: string, words: string, code: number, end: string])[] = [
  [
    'a pod of the same project has it',
    '--from 10.128.2.2 --to 10.128.2.5 --tcp 80',
    0,
    'delivered to port 6 (p6)',
  ],
  [
    'a pod of the project default has it',
    '--from 10.128.2.2 --to 10.128.2.3 --udp 53',
    0,
    'delivered to port 4 (p4)',
  ],
  [
    'a pod of another project does not',
    ...(['--from 10.128.2.4 --to 10.128.2.2 --tcp 80', 4] as const),
    'dropped in table 80: no flow lets VNID 7 reach VNID 42',
  ],
  [
    'it goes to another node',
    ...(['--from 10.128.2.2 --to 10.128.4.9', 0] as const),
    '  podwire packet trace --from 10.128.2.2 --to 10.128.4.9 --tunnel-from 192.0.2.1 --vnid 42',
  ],
  [
    'it comes from another node',
    ...(['--from 10.128.4.9 --to 10.128.2.2 --tunnel-from 192.0.2.2 --vnid 42', 0] as const),
    'delivered to port 3 (p3)',
  ],
  [
    'it comes from another project on another node',
    ...(['--from 10.128.4.9 --to 10.128.2.2 --tunnel-from 192.0.2.2 --vnid 7', 4] as const),
    'dropped in table 80: no flow lets VNID 7 reach VNID 42',
  ],
  [
    'it comes from a node that is not known',
    ...(['--from 10.128.4.9 --to 10.128.2.2 --tunnel-from 192.0.2.9 --vnid 42', 4] as const),
    'dropped in table 10: the tunnel comes from no known node',
  ],
  [
    'it leaves the cluster',
    '--from 10.128.2.2 --to 198.51.100.7 --tcp 443',
    0,
    'sent out of the cluster through tun0',
  ],
  [
    'it goes to a service',
    ...(['--from 10.128.2.2 --to 172.30.0.10 --tcp 443', 0] as const),
    'sent through tun0 to the service proxy of this node',
  ],
  [
    'its sender is forged',
    ...(['--from 10.128.2.3 --in-port p3 --to 10.128.2.2 --icmp', 4] as const),
    'dropped in table 20: no flow accepts packets from 10.128.2.3 at port 3',
  ],
  [
    'no pod has the address',
    ...(['--from 10.128.2.2 --to 10.128.2.99', 4] as const),
    'dropped in table 70: no pod of this node has the address 10.128.2.99',
  ],
];

for (const [title, words, code, end] of cases)
  test(`says what becomes of a packet: ${title}`, async () => {
    const result = await trace(words);
    assert.deepEqual({ code: result.code, end: result.lines.at(-1) }, { code, end });
  });

test('shows the flows on the way, and whose they are', async () => {
  const { lines } = await trace('--from 10.128.2.4 --to 10.128.2.2 --tcp 80');
  const tables = lines.filter((line) => line.startsWith('table ')).map((line) => parseInt(line.slice(6), 10));
  assert.deepEqual(tables, [0, 0, 20, 27, 30, 31, 70, 80]);
  assert.ok(
    lines.includes(
      '  podwire 0x00000005   priority=100,in_port=5,ip,ip_src=10.128.2.4 actions=load:0x7->reg0[],goto_table:27',
    ),
  );
});

test('finds every flow on the way among those of the bridge', async () => {
  const ways = cases.map(async ([, words]) => {
    const { lines } = await trace(`${words} -o json`);
    const { hops } = JSON.parse(lines.join('\n')) as {
      hops: readonly { steps: readonly { found?: unknown; text: string }[] }[];
    };
    return hops
      .flatMap(({ steps }) => steps)
      .filter(({ found }) => found === undefined)
      .map(({ text }) => text);
  });
  assert.deepEqual((await Promise.all(ways)).flat(), []);
});

test('sends no packet', async () => {
  const counters = () => run([checkoutFile('bin/podwire'), 'flows', '--run-dir', real.runDirectory]);
  const earlier = await counters();
  await trace('--from 10.128.2.2 --to 10.128.2.5 --tcp 80');
  assert.equal(await counters(), earlier);
});
