/** `podwire flows` as people run it, on a real ovs-vswitchd. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { type Flow, parseFlow } from '@podwire/openflow';
import { run, start } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { checkoutFile } from '../src/checkout.js';

let real: OpenVSwitch;
const golden = fs.readFileSync(checkoutFile('packages/networks/sdn/test/golden/v13-multitenant.txt'), 'utf8');

before(async () => {
  real = await OpenVSwitch.startWithBridge();
  await real.ofctl(['add-flows', 'BRIDGE', '-'], golden);
});
// A start that has failed leaves it out.
after(async () => (real as OpenVSwitch | undefined)?.close());

const argvOf = (words: readonly string[]): string[] => [
  ...[checkoutFile('bin/podwire'), 'flows', '--run-dir', real.database.directory],
  ...words,
];
const flows = (...words: string[]): Promise<string> => run(argvOf(words));

async function fail(...words: string[]): Promise<{ code: number | null; stderr: string }> {
  const child = start(argvOf(words));
  const { code } = await child.exited;
  return { code, stderr: child.stderr() };
}

test('lists the flows that ovs-ofctl has added, as data', async () => {
  const view = JSON.parse(await flows('-o', 'json')) as {
    readonly sdn: unknown;
    readonly tables: readonly { readonly flows: readonly { readonly flow: Flow }[] }[];
  };
  const found = view.tables.flatMap((table) => table.flows.map(({ flow }) => flow));
  const expected = golden.trimEnd().split('\n').map(parseFlow);
  assert.deepEqual(new Set(found), new Set(expected));
  assert.deepEqual(view.sdn, { mode: 'multitenant', version: 13 });
});

test('counts the packets of a pod', async () => {
  const address = 'eth(src=0a:58:0a:80:02:02,dst=0a:58:0a:80:02:03)';
  const packet = 'ipv4(src=10.128.2.2,dst=10.128.2.3,proto=17,tos=0,ttl=64,frag=no),udp(src=1,dst=2)';
  await real.appctl('netdev-dummy/receive', 'p3', `in_port(3),${address},eth_type(0x0800),${packet}`);
  // The counters of the datapath come to the flows only now and then.
  await real.appctl('revalidator/purge');
  const text = await flows('10.128.2.2', '--table', '20', '--stats');
  assert.match(text, /^ +1 +\d+ +\d+s +others +priority=100,in_port=3,ip,ip_src=10\.128\.2\.2 /m);
  assert.match(text, /^br0: OpenShift SDN, multitenant, rule version 13; 2 of 68 flows\n/);
  assert.match(text, /^10\.128\.2\.2: 10\.128\.2\.2, port 3$/m);
  assert.match(text, /^table 20: drops what is not .* \(\d+ lookups, \d+ matched\)$/m);
});

test('says how a bridge of OpenFlow 1.3, as OpenShift makes it, can be asked, and that helps', async () => {
  await real.vsctl('set', 'Bridge', 'br0', 'protocols=OpenFlow13');
  const { code, stderr } = await fail();
  assert.equal(code, 1);
  const [, advice = ''] = /`ovs-vsctl (.*?)`/.exec(stderr) ?? [];
  await real.vsctl(...advice.split(' '));
  assert.match(await flows(), /^br0: .*; 68 flows\n/);
});

test('does not wait for a switch that is stopped', async () => {
  real.freezeDaemon();
  try {
    const { code, stderr } = await fail('--timeout', '0.2');
    assert.equal(code, 1);
    assert.match(stderr, /^error: bridge br0 has not answered for 0\.2 s\n/);
  } finally {
    real.thawDaemon();
  }
});
