/** Input that must be refused, through the real plugin: every code that the agent has for it, what the message says, and no trace of it. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { assertSameSnapshot, type Snapshot, type TestNamespace } from '@podwire/testkit';
import { type CniCall, networkName } from './support/calls.js';
import { createFaultHost, type FaultHost, leasesOf, tinyPoolSize } from './support/fault-host.js';
import { nested, refusals } from './support/refusals.js';
import { addPod } from './support/subjects.js';

let faults: FaultHost;
let pod: TestNamespace;
let other: TestNamespace;
/** Without any endpoint, with the blocks claimed. */
let empty: Snapshot;
before(async () => {
  faults = await createFaultHost({ name: 'bad' });
  pod = await addPod(faults.host, 'pod');
  other = await addPod(faults.host, 'other');
  await add({});
  await faults.succeed({ command: 'DEL' });
  await faults.settle();
  empty = await faults.snapshot(pod, other);
});
after(() => faults.close());

/** Whatever a test has left goes; then there must be nothing. */
async function assertEmpty(): Promise<void> {
  await faults.succeed({ command: 'GC', config: { 'cni.dev/valid-attachments': [] } });
  await faults.settle();
  // A table that had to be made anew has other handles under its seal.
  assertSameSnapshot(empty, await faults.snapshot(pod, other), { ignore: [/structure_seal$/] });
  assert.deepEqual(await faults.api.drift('node'), []);
  assert.deepEqual(await faults.api.leases(), []);
}

const add = (call: Omit<CniCall, 'command'>) => faults.succeed({ netns: pod.path, ...call, command: 'ADD' });
const kubernetes = (name: string): string => `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};IgnoreUnknown=1`;

async function assertRefused(call: CniCall, code: number, words: RegExp): Promise<void> {
  const { ok, json, body } = await faults.call({ netns: pod.path, ...call });
  assert.equal(ok, false);
  assert.equal(json.code, code, body);
  assert.match(`${json.msg} ${json.details}`, words);
  assert.match(json.cniVersion ?? '', /^\d+\.\d+\.\d+$/);
}

/** With the places of this host in it. */
function placed(call: CniCall): CniCall {
  const { socket } = faults.agent;
  return {
    ...call,
    ...(call.netns === 'OWN' ? { netns: faults.host.namespace.path } : {}),
    ...(call.stdin === undefined
      ? {}
      : { stdin: Buffer.from(call.stdin.toString('latin1').replace('SOCKET', socket), 'latin1') }),
  };
}

describe('what is refused before anything happens', () => {
  for (const [code, what, call, words] of refusals)
    test(`${code}: ${what}`, async () => {
      await assertRefused(placed(call), code, words);
    });

  for (const [stdin, words] of [
    ['', /network configuration is empty/],
    ['[]', /must be an object, is an array/],
  ] as const)
    test(`6: ${stdin || 'nothing'} at all, by a caller who knows the socket without it`, async () => {
      const { json } = await faults.callOverSocket({ command: 'ADD', netns: pod.path, stdin });
      assert.equal(json.code, 6);
      assert.match(json.msg ?? '', words);
    });

  test('nothing came of all this', async () => {
    assert.deepEqual(await faults.api.endpoints(), []);
    await assertEmpty();
  });
});

describe('what the node has no room for', () => {
  afterEach(assertEmpty);

  test('11 and, for STATUS, 50: no address left', async () => {
    for (let index = 0; index < tinyPoolSize; index += 1)
      await add({ id: `c${index}`, ifName: `e${index}`, netns: other.path });
    await assertRefused({ command: 'ADD' }, 11, /POOL_EXHAUSTED.*10\.66\.0\.0\/29.*podwire ipam show/);
    await assertRefused(
      { command: 'STATUS' },
      50,
      /POOL_EXHAUSTED.*no free IPv4 address left in 10\.66\.0\.0\/29/,
    );
    assert.deepEqual(await leasesOf(faults.api, `${networkName},c1,eth0`), []);
  });

  test('102: an address that another pod has', async () => {
    await add({ id: 'first', args: `${kubernetes('web')};IP=10.66.0.3` });
    await assertRefused(
      { command: 'ADD', args: 'IP=10.66.0.3' },
      102,
      /ADDRESS_IN_USE.*10\.66\.0\.3.*default,first,eth0/,
    );
    assert.equal((await faults.api.leases()).length, 2);
  });

  test('103: a host port that another pod has', async () => {
    const config = { runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80 }] } };
    await add({ id: 'first', args: kubernetes('web'), config });
    await assertRefused(
      { command: 'ADD', config },
      103,
      /PORT_IN_USE: host port.*8080.* is taken by pod shop\/web/,
    );
    assert.equal((await faults.api.leases()).length, 2);
  });

  test('104: an interface of that name is there already', async () => {
    await pod.ip('link add eth0 type ifb');
    const before = await faults.snapshot(pod, other);
    await assertRefused({ command: 'ADD' }, 104, /KERNEL_REFUSED.*veth.*EEXIST/);
    await faults.settle();
    assertSameSnapshot(before, await faults.snapshot(pod, other));
    assert.deepEqual(await faults.api.endpoints(), []);
    await faults.succeed({ command: 'DEL', netns: pod.path });
    assertSameSnapshot(before, await faults.snapshot(pod, other));
    await pod.ip('link del eth0');
  });
});

describe('what has changed since ADD', () => {
  afterEach(assertEmpty);

  test('101: CHECK names everything that is missing or other than it was', async () => {
    const { json: prevResult } = await add({ config: { runtimeConfig: { ips: ['10.66.0.5'] } } });
    const check: CniCall = { command: 'CHECK', netns: pod.path, config: { prevResult } };
    await faults.succeed(check);
    await pod.ip('addr del 10.66.0.5/32 dev eth0', 'link set lo down');
    await assertRefused(
      check,
      101,
      /ENDPOINT_DRIFTED: container c1: (?=.*eth0 does not have 10\.66\.0\.5\/32)(?=.*lo is down)/,
    );
    await pod.ip('link set lo up');
    const foreign = {
      ...check,
      config: { prevResult: { ...prevResult, ips: [{ address: '10.66.0.6/32', interface: 1 }] } },
    };
    await assertRefused(foreign, 101, /prevResult lacks the address 10\.66\.0\.5\/32/);
    await assertRefused({ ...check, netns: other.path }, 101, /is not the namespace of ADD/);
    await assertRefused({ ...check, config: {} }, 7, /prevResult: CHECK needs the result of ADD/);
  });

  test('105: DEL keeps what it cannot remove, says so, and finishes when it can', async () => {
    const config = { runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80 }] } };
    await add({ config });
    // Another program puts a map of the same name there that keys do not fit into.
    const foreign = 'table inet podwire { map hostports4 { type ipv4_addr : ipv4_addr; }; }';
    await faults.host.run(['nft', '-f', '-'], { input: `delete table inet podwire\n${foreign}\n` });
    await assertRefused({ command: 'DEL' }, 105, /REMOVE_INCOMPLETE.*hostports4.*8080/);
    assert.deepEqual(
      (await faults.api.endpoints()).map(({ phase }) => phase),
      ['removing'],
    );
    assert.equal((await faults.api.leases()).length, 2);
    assert.deepEqual(
      (await faults.api.reconcile()).failures.filter((line) => !line.includes('hostports4')),
      [],
    );
    await faults.api.reconcile();
    assert.deepEqual(await faults.api.endpoints(), []);
    await faults.succeed({ command: 'DEL' });
  });
});

describe('what must be tolerated', () => {
  afterEach(assertEmpty);

  test('unknown fields and arguments, null for absent, 32 levels, nearly a mebibyte', async () => {
    const unknown = {
      future: { deep: nested(29) },
      runtimeConfig: { 'io.example.later': [1], mac: null, ips: null },
    };
    const large = { padding: 'x'.repeat((1 << 20) - 2000) };
    await add({
      args: `FUTURE=1;${kubernetes('web')}`,
      config: { ...unknown, ...large, ipam: null, dns: {} },
    });
  });

  for (const version of ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'])
    test(`version ${version}: the answer is in it`, async () => {
      const { json } = await add({ config: { cniVersion: version } });
      assert.equal(json.cniVersion, version);
      await faults.succeed({ command: 'DEL', config: { cniVersion: version } });
    });

  test('DEL with a namespace that is gone, none, or nonsense', async () => {
    for (const netns of ['', '/run/netns/podwire-absent', '/etc/hostname', 'relative']) {
      await add({});
      await faults.succeed({ command: 'DEL', netns });
      assert.deepEqual(await faults.api.endpoints(), []);
    }
  });

  test('DEL after the namespace has died with everything in it', async () => {
    const shortLived = faults.host.addPod();
    await add({
      netns: shortLived.path,
      config: { runtimeConfig: { portMappings: [{ hostPort: 1, containerPort: 1 }] } },
    });
    const { path } = shortLived;
    faults.host.removePod(shortLived);
    await faults.succeed({ command: 'DEL', netns: path });
  });

  test('DEL of what was never there, and DEL twice', async () => {
    await faults.succeed({ command: 'DEL', id: 'never' });
    await add({});
    await faults.succeed({ command: 'DEL' });
    await faults.succeed({ command: 'DEL' });
  });
});
