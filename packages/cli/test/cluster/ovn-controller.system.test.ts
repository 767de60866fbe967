/** `podwire controller --northbound` makes the logical network of what is applied, on real etcd and OVN. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { until } from '@podwire/testkit';
import { startEtcd } from '@podwire/testkit/etcd';
import { OvnCentral } from '@podwire/testkit/ovn';

const program = path.resolve(import.meta.dirname, '../../../../../bin/podwire');

const subnet = `
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: blue }
spec: { cidrBlock: 10.17.0.0/16, namespaces: [shop] }
`;

test('a subnet that is applied is a logical switch a moment later', { timeout: 60_000 }, async (context) => {
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
  const northbound = ['--northbound', central.northbound.endpoint, '--pod-cidr', '10.20.0.0/16'];
  const controller = spawn(program, ['controller', ...store, ...northbound], { stdio: 'ignore' });
  closing.push(async () => {
    controller.kill('SIGTERM');
    if (controller.exitCode === null) await once(controller, 'exit');
  });

  const file = path.join(etcd.directory, 'subnet.yaml');
  fs.writeFileSync(file, subnet);
  await podwire('apply', '-f', file);
  await until('the switches are there', async () => {
    const switches = await central.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch');
    assert.deepEqual(switches.split(/\s+/).filter(Boolean).sort(), ['blue', 'join', 'ovn-default']);
    return true;
  });
  assert.match(await podwire('get', 'subnets'), /^ovn-default .* 10\.20\.0\.0\/16 /m);

  const show = ['ovn', 'show', '--northbound', central.northbound.endpoint];
  assert.match(
    await podwire(...show),
    /^1 VPC, 3 subnets, 0 nodes, 0 pods: all of it is in the northbound database$/m,
  );
  controller.kill('SIGSTOP');
  await central.nbctl('lrp-del', 'ovn-cluster-blue');
  const shown = promisify(execFile)(program, [...show, ...store], { timeout: 30_000 });
  await assert.rejects(shown, (error: { readonly code?: number; readonly stdout?: string }) => {
    assert.equal(error.code, 4);
    assert.match(error.stdout ?? '', /subnet blue .*\n\s+✗ .*ovn-cluster-blue/);
    return true;
  });
  controller.kill('SIGCONT');
});
