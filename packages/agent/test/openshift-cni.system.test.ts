/** The plugin of OpenShift SDN by its own name, at its own places, with real agents, Open vSwitch and packets. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { networkConfigName, renderNetworkConfig } from '@podwire/openshift-cni';
import { eventually, pings, run, type TestNamespace } from '@podwire/testkit';
import type { Machine } from './fakes/cluster-fixture.js';
import { openshiftCniOf, putPluginAtItsPlace } from './fakes/openshift-places.js';
import { createSdnFixture, namespace, type SdnFixture } from './fakes/sdn-fixture.js';
import { addPod, removePod } from './fakes/sdn-pods.js';

/** Configurations of OpenShift 3 and of OpenShift 4. */
const versions = ['0.2.0', '0.3.1'] as const;

let fixture: SdnFixture;
let one: Machine;
let two: Machine;
let own: TestNamespace;

const directoryOf = ({ host }: Machine): string => openshiftCniOf(host).directory;
const networksOf = ({ host }: Machine): string => openshiftCniOf(host).networkConfigDir;
const networkFileOf = (machine: Machine): string => path.join(networksOf(machine), networkConfigName);
const nodeFileOf = (machine: Machine): string => path.join(directoryOf(machine), 'config.json');

before(async () => {
  fixture = await createSdnFixture('openshift', {
    agentOf: (host) => ({ openshiftCni: openshiftCniOf(host) }),
  });
  [one, two] = fixture.machines as [Machine, Machine];
  await fixture.apply(namespace('shop'));
  own = one.host.addPod();
  await eventually('both nodes say that they are ready', () =>
    [one, two].every((machine) => fs.existsSync(networkFileOf(machine))),
  );
});
after(async () => fixture?.close());

/** Starts the plugin as a runtime does, with the file that the node has written. @returns its output */
async function runPlugin(
  machine: Machine,
  command: 'ADD' | 'DEL',
  pod: TestNamespace,
  version: (typeof versions)[number],
): Promise<string> {
  return run([putPluginAtItsPlace(machine.host, machine.host.directory)], {
    input: renderNetworkConfig(version),
    env: {
      ...{ CNI_COMMAND: command, CNI_CONTAINERID: pod.name, CNI_NETNS: pod.path, CNI_IFNAME: 'eth0' },
      ...{ CNI_PATH: '/opt/cni/bin', CNI_ARGS: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod.name}` },
    },
  });
}

test('the files of the original are there once the node serves pods', () => {
  assert.equal(fs.readFileSync(networkFileOf(one), 'utf8'), renderNetworkConfig('0.2.0'));
  const expected = '{"mtu":1450,"serviceNetworkCIDR":"172.30.0.0/16"}';
  assert.equal(fs.readFileSync(nodeFileOf(one), 'utf8'), expected);
});

for (const version of versions)
  test(`the plugin adds a pod under ${version}, which reaches one of Podwire’s own plugin, and removes it`, async () => {
    const far = await addPod(two, 'shop');
    const links = await linksOf(one);
    const result = JSON.parse(await runPlugin(one, 'ADD', own, version)) as ResultOfPlugin;
    assert.equal(result.cniVersion, version);
    const address = result.ip4?.ip ?? result.ips?.[0]?.address;
    assert.match(address ?? '', /^10\.(12[89]|13[01])\./);
    await eventually('the pod reaches the other one', () => pings(own, far.address));
    assert.equal(await runPlugin(one, 'DEL', own, version), '');
    await eventually('the node has the links that it had', async () =>
      isDeepStrictEqual(await linksOf(one), links),
    );
    await removePod(far);
  });

interface ResultOfPlugin {
  readonly cniVersion: string;
  readonly ip4?: { readonly ip: string };
  readonly ips?: readonly { readonly address: string }[];
}

async function linksOf({ host }: Machine): Promise<string[]> {
  const links = JSON.parse(await host.run(['ip', '-json', 'link'])) as { readonly ifname: string }[];
  return links.map(({ ifname }) => ifname);
}

test('an agent that is stopped takes config.json along, and the plugin says so; a start changes no network', async () => {
  const written = fs.statSync(networkFileOf(one));
  await one.agent.stop();
  assert.deepEqual(fs.readdirSync(directoryOf(one)), []);
  await assert.rejects(runPlugin(one, 'ADD', own, '0.2.0'), {
    stdout: /OpenShift SDN network process is not \(yet\?\) available/,
  });
  await one.agent.start();
  await eventually('it serves the plugin', () => fs.existsSync(nodeFileOf(one)));
  assert.equal(fs.statSync(networkFileOf(one)).ino, written.ino);
});

test('after a start of the machine there is no network before the node serves pods', async () => {
  await one.agent.stop();
  fs.rmSync(directoryOf(one), { recursive: true });
  fixture.switches[0]!.freezeDaemon();
  const starting = one.agent.start();
  await eventually('it listens', () => fs.existsSync(path.join(directoryOf(one), 'socket')));
  assert.deepEqual(fs.readdirSync(directoryOf(one)), ['socket']);
  assert.deepEqual(fs.readdirSync(networksOf(one)), []);
  fixture.switches[0]!.thawDaemon();
  await starting;
  await eventually('it serves the plugin', () => fs.existsSync(networkFileOf(one)));
  assert.ok(fs.existsSync(nodeFileOf(one)));
});
