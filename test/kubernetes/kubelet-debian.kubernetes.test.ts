/** A real kubelet 1.20.2 that drives our sandbox service over Docker Engine, with a network of Debian's CNI plugins. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { until, worldAddresses } from '@podwire/testkit';
import { createKubeletHost, fetchFrom, type KubeletHost } from './support/kubelet-host.js';
import { webPod } from './support/pods.js';

let machine: KubeletHost;

before(async () => {
  machine = await createKubeletHost({ network: 'debian', runtime: 'docker' });
});
after(() => machine?.close());

/** Addresses that host-local has handed out, and ends of pods’ links at the bridge. */
async function handedOut(): Promise<{ addresses: string[]; links: string[] }> {
  const directory = path.join(machine.host.directory, 'leases/debian');
  const links = JSON.parse(await machine.host.run(['ip', '-json', 'link', 'show', 'master', 'cni0'])) as {
    ifname: string;
  }[];
  return {
    addresses: fs.readdirSync(directory).filter((name) => /^\d+\./.test(name)),
    links: links.map(({ ifname }) => ifname),
  };
}

test('a static pod reaches Running on the bridge, with an address of host-local and a host port of portmap', async () => {
  machine.writeManifest('web.json', webPod({ name: 'web', hostPort: 8080 }));
  const { status } = await machine.untilReady('web');
  assert.equal(status.phase, 'Running');
  assert.match(status.podIP ?? '', /^10\.88\.0\./);
  assert.equal(await fetchFrom(machine.host.namespace, `http://${status.podIP}/`), 'web\n');
  assert.equal(await fetchFrom(machine.world, `http://${worldAddresses.host.ipv4}:8080/`), 'web\n');
  const { addresses, links } = await handedOut();
  assert.deepEqual(addresses, [status.podIP]);
  assert.equal(links.length, 1);
});

test('two pods reach each other over the bridge', async () => {
  machine.writeManifest('other.json', webPod({ name: 'other' }));
  const { status } = await machine.untilReady('other');
  const answer = await machine.exec('web', ['wget', '-qO-', `http://${status.podIP}/`]);
  assert.deepEqual(answer, { code: 0, output: 'other\n' });
});

test('an edit and a removal give every address and link back', async () => {
  const before = await machine.untilReady('web');
  machine.writeManifest('web.json', webPod({ name: 'web', text: 'edited', hostPort: 8080 }));
  const now = await machine.untilReady('web', ({ metadata: { uid } }) => uid !== before.metadata.uid);
  assert.equal(await fetchFrom(machine.world, `http://${worldAddresses.host.ipv4}:8080/`), 'edited\n');
  assert.notEqual(now.status.podIP, before.status.podIP);
  for (const name of ['web', 'other']) fs.rmSync(path.join(machine.kubelet.manifests, `${name}.json`));
  for (const name of ['web', 'other']) await machine.untilGone(name);
  const nothing = async (): Promise<boolean> => {
    const { addresses, links } = await handedOut();
    return addresses.length + links.length === 0;
  };
  await until('all is given back', nothing, { describe: handedOut });
  const rules = await machine.host.run(['nft', 'list', 'ruleset']);
  assert.doesNotMatch(rules, /8080/);
});
