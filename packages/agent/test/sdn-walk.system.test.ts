/**
 * The way of a pod of OpenShift SDN, from its manifest to an answer that another node gets: pod agent, sandbox service, CNI runtime,
 * the plugin by the original's name, node agent, Open vSwitch. docs/models/sdn.md tells it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { succeeds } from '@podwire/platform';
import { defaultAgentEntry, eventually, type TestNamespace } from '@podwire/testkit';
import type { Machine } from './fakes/cluster-fixture.js';
import { openshiftCniOf, putPluginAtItsPlace } from './fakes/openshift-places.js';
import { createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod } from './fakes/sdn-pods.js';

const podwire = defaultAgentEntry[0]!;

let fixture: SdnFixture;
let one: Machine;
let far: TestNamespace;
const at = (name: string): string => path.join(one.host.directory, name);

before(async () => {
  fixture = await createSdnFixture('walk', { agentOf: (host) => ({ openshiftCni: openshiftCniOf(host) }) });
  const two = fixture.machines[1]!;
  one = fixture.machines[0]!;
  await fixture.apply(namespace('shop'));
  far = (await addPod(two, 'shop')).namespace;
  for (const name of ['manifests', 'bin']) fs.mkdirSync(at(name));
  putPluginAtItsPlace(one.host, at('bin'));
  await startPodAgent();
});
after(async () => fixture?.close());

const places = (): string[] => ['--directory', at('p')];

async function startPodAgent(): Promise<void> {
  const network = ['--cni-conf-dir', openshiftCniOf(one.host).networkConfigDir, '--cni-bin-dir', at('bin')];
  const links = ['--container-log-links', 'none'];
  const podlet = ['podlet', ...places(), '--manifests', at('manifests'), ...network, ...links];
  const started = one.host.start([podwire, ...podlet]);
  one.host.defer(async () => {
    // Pods outlive their pod agent.
    for (const file of fs.readdirSync(at('manifests'))) fs.rmSync(path.join(at('manifests'), file));
    await eventually('no pod is left', async () => (await listPods()).length === 0);
    started.kill('SIGTERM');
    await started.exited;
  });
  await eventually('the pod agent answers', () => succeeds(listPods()));
}

const manifest = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        ...{ name: 'web', image: 'busybox', imagePullPolicy: 'Never' },
        command: ['/bin/busybox', 'sh', '-c', 'cd /etc && exec /bin/busybox httpd -f -p 80'],
      },
    ],
  },
};

interface Pod {
  readonly name: string;
  readonly status: { readonly phase: string; readonly podIP?: string };
}

async function listPods(): Promise<readonly Pod[]> {
  const text = await one.host.run([podwire, 'ps', '-o', 'json', ...places()]);
  return (JSON.parse(text) as { readonly pods: readonly Pod[] }).pods;
}

/** Steps of the trace, each a part of the one before that is less indented. */
async function readSteps(): Promise<string[]> {
  const agent = ['--socket', one.agent.apiSocket];
  const text = await one.host.run([podwire, 'trace', 'pod/shop/web', '--full', ...places(), ...agent]);
  return text.split('\n').flatMap((line) => /^ *(.*?) +[\d.]+ ms /.exec(line)?.[1] ?? []);
}

/** In the order of docs/models/sdn.md. */
const steps = [
  ...['RunPodSandbox', 'bring lo up', 'cni ADD openshift-sdn', 'agent ADD', 'plan', 'record'],
  ...[
    'apply veth',
    'apply link lo up',
    'apply address',
    'apply route 172.30.0.0/16',
    'apply route 0.0.0.0/0',
  ],
  ...[
    'apply port',
    'apply flow table=80',
    'apply flow table=20',
    'apply flow table=70',
    'apply link eth0 ready',
  ],
  ...['answer', 'start pause process', 'CreateContainer', 'StartContainer'],
];

/** @throws AssertionError unless the steps are there, in this order */
function assertInOrder(found: readonly string[]): void {
  let next = 0;
  for (const step of steps) {
    const index = found.findIndex((each, at) => at >= next && each.startsWith(step));
    assert.ok(index >= 0, `${step} is missing, or earlier:\n${found.join('\n')}`);
    next = index + 1;
  }
}

test('a manifest becomes a pod that another node reaches, by the steps of the original', async () => {
  fs.writeFileSync(at('manifests/web.json'), JSON.stringify(manifest));
  let address: string | undefined;
  await eventually('the pod runs', async () => {
    const [web] = await listPods();
    address = web?.status.podIP;
    return web?.status.phase === 'Running';
  });
  await eventually('the pod answers another node', async () => {
    const asked = far.run(['busybox', 'wget', '-qO-', `http://${address}/hostname`]);
    return (await asked.catch(() => '')) === 'web\n';
  });
  assertInOrder(await readSteps());
});
