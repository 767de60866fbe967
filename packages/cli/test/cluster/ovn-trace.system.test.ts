/** `podwire ovn trace` with a real ovn-trace, through what a controller has made of objects in a real OVN. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { keysBelow, nodeKind, nodeLeaseKind, ovnPodKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store } from '@podwire/store';
import { until } from '@podwire/testkit';
import { startEtcd } from '@podwire/testkit/etcd';
import { OvnCentral } from '@podwire/testkit/ovn';

const program = path.resolve(import.meta.dirname, '../../../../../bin/podwire');

const objects = `
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: red }
spec: { protocol: Dual, cidrBlock: "10.16.0.0/16,fd16::/64", namespaces: [shop] }
---
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: blue }
spec: { cidrBlock: 10.17.0.0/16, namespaces: [bank], private: true }
`;

test('a packet is followed to its pod, its drop or its way out', { timeout: 120_000 }, async (context) => {
  const { podwire, trace } = await startCluster(context);

  await until('the packet reaches the pod', async () => {
    assert.match(await trace('shop/app', '--tcp', '80'), /^reaches app\.shop on node n2 through a tunnel$/m);
    return true;
  });
  assert.match(await trace('198.51.100.7'), /^leaves through the node n1 \(join\)$/m);
  assert.match(
    await trace('2001:db8::7'),
    /policy ip6\.src == .*: reroute to [^]*^leaves through the node n1/m,
  );
  assert.match(await trace('198.51.100.7', '--raw'), /^ingress\(dp="red", inport="web\.shop"\)$/m);
  await assert.rejects(trace('bank/db', '--tcp', '80', '-o', 'json'), (error: Ended) => {
    assert.equal(error.code, 4);
    const { outcome, verdict } = JSON.parse(error.stdout ?? '') as Record<string, unknown>;
    assert.deepEqual(
      [outcome, verdict],
      ['dropped', 'dropped by the ACL "ip" (priority 1000) of subnet blue (private)'],
    );
    return true;
  });
  const nowhere = ['--southbound', 'unix:/nowhere/sb.sock'];
  await assert.rejects(
    podwire('ovn', 'trace', '--from', 'shop/web', '--to', 'bank/db', ...nowhere),
    (error: Ended) => {
      assert.match(error.stderr ?? '', /database connection failed[^]*BACKEND_SILENT/);
      return true;
    },
  );
});

interface Ended {
  readonly code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Two nodes with the pods shop/web on n1, and shop/app and bank/db on n2. */
async function startCluster(context: TestContext) {
  const closing: (() => Promise<unknown>)[] = [];
  context.after(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const etcd = await startEtcd({});
  closing.push(() => etcd.close());
  const central = await OvnCentral.start();
  closing.push(() => central.close());
  const store = ['--store', etcd.spec.endpoints[0]!.replace('http', 'etcd')];
  const podwire = async (...words: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, [...words, ...store], { timeout: 30_000 })).stdout;
  const controller = startController([...store, '--northbound', central.northbound.endpoint]);
  closing.push(controller.stop);
  const file = path.join(etcd.directory, 'objects.yaml');
  fs.writeFileSync(file, objects);
  await podwire('apply', '-f', file);
  const opened = await openStore(etcd.spec, { log: silentLog, clock: systemClock });
  closing.push(() => opened.close());
  await addRecords(opened);
  const southbound = ['--southbound', central.southbound.endpoint];
  const trace = (to: string, ...words: readonly string[]): Promise<string> =>
    podwire('ovn', 'trace', '--from', 'pod/shop/web', '--to', to, ...words, ...southbound);
  return { podwire, trace };
}

const join = ['--join-cidr', '100.64.0.0/16,fd64::/64'];

function startController(words: readonly string[]) {
  const controller = spawn(program, ['controller', ...words, '--pod-cidr', '10.20.0.0/16', ...join], {
    stdio: 'ignore',
  });
  const stop = async (): Promise<void> => {
    controller.kill('SIGTERM');
    if (controller.exitCode === null) await once(controller, 'exit');
  };
  return { stop };
}

/** As agents write them. */
async function addRecords(store: Store): Promise<void> {
  const keys = keysBelow('/podwire');
  for (const name of ['n1', 'n2']) {
    const addresses = { ipv4: `192.0.2.${name.slice(1)}/24` };
    const node = {
      name,
      instance: `${name}-1`,
      version: '0.1.0',
      labels: {},
      mtu: 1500,
      registeredAt: 0,
      addresses,
    };
    await store.put(keys.node(name), encodeObject(nodeKind, node));
    const lease = encodeObject(nodeLeaseKind, { node: name, instance: `${name}-1`, since: 0 });
    await store.put(keys.nodeLease(name), lease);
  }
  for (const [namespace, name, node] of [
    ['shop', 'web', 'n1'],
    ['shop', 'app', 'n2'],
    ['bank', 'db', 'n2'],
  ] as const) {
    const record = { namespace, name, uid: `${name}-1`, annotations: {}, node };
    await store.put(keys.ovnPod(namespace, name), encodeObject(ovnPodKind, record));
  }
}
