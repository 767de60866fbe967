/** Sandboxes that die, are stopped by many at once, or are gone with their whole machine. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { connectCri, PodSandboxConfig, PodSandboxState } from '@podwire/cri';
import type { PodView } from '@podwire/podlet';
import { mountsBelow, type PrivateHost, processesIn, run } from '@podwire/testkit';
import { killQuietly, processesWith } from './support/end-processes.js';
import { webPod } from './support/manifests.js';
import type { Paths } from './support/paths.js';
import { createPodMachine, type PodMachine, startEntry } from './support/pod-machine.js';
import type { Service } from './support/service.js';

/** Writes down its calls and passes on what came before it. */
function installRecorder(host: PrivateHost, { binDir }: Paths): readonly object[] {
  const text = `#!${process.execPath}
const fs = require('node:fs');
const { CNI_COMMAND: command, CNI_CONTAINERID: id } = process.env;
if (command === 'VERSION') {
  console.log('{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}');
  process.exit(0);
}
fs.appendFileSync(${JSON.stringify(path.join(host.directory, 'calls'))}, command + ' ' + id + '\\n');
if (command === 'ADD') console.log(JSON.stringify(JSON.parse(fs.readFileSync(0, 'utf8')).prevResult));
`;
  fs.writeFileSync(path.join(binDir, 'recorder'), text, { mode: 0o755 });
  return [{ type: 'recorder' }];
}

describe('with the runtime in the pod agent', () => {
  let machine: PodMachine;
  before(async () => {
    machine = await createPodMachine({ name: 'sbx' });
  });
  afterEach(() => machine.assertNothingLeft());
  after(() => machine.close());

  const holderOf = ({ sandboxId = '' }: PodView): number => {
    const pids = processesWith('podwire-hold\0sandbox', sandboxId);
    assert.equal(pids.length, 1, sandboxId);
    return pids[0]!;
  };

  test('a sandbox is killed: another one comes, can be reached, and the old one’s address is free', async () => {
    machine.write('web.json', webPod('web'));
    const old = await machine.untilServing('web');
    process.kill(holderOf(old), 'SIGKILL');
    await machine.until('another sandbox', ([one]) => {
      return one?.sandboxId !== undefined && one.sandboxId !== old.sandboxId;
    });
    const next = await machine.untilServing('web');
    assert.equal(next.uid, old.uid);
    assert.deepEqual(await machine.addresses(), [next.status.podIP]);
    assert.ok(next.events.some(({ reason }) => reason === 'SandboxChanged'));
    machine.drop('web.json');
    await machine.untilGone();
  });

  test('a reboot with what is in memory gone: everything comes up anew', () => reboot(true));
  test('a reboot that has kept every file: everything comes up anew', () => reboot(false));

  /** All processes and namespaces end, the boot has another id; `empty`: also what a boot empties is gone. */
  async function reboot(empty: boolean): Promise<void> {
    const { podAgent, paths, host } = machine;
    machine.write('web.json', webPod('web'));
    machine.write('gone.json', webPod('gone'));
    const old = await machine.untilServing('web');
    await machine.untilServing('gone');
    await podAgent.kill9();
    await endPods(machine);
    fs.writeFileSync(paths.bootId, `boot ${Math.random()}\n`);
    if (empty) {
      for (const directory of [paths.state, paths.netns, paths.shm])
        for (const name of fs.readdirSync(directory))
          fs.rmSync(path.join(directory, name), { recursive: true });
    }
    machine.drop('gone.json');
    await host.run(['ip', 'link', 'delete', 'cni0']);
    await podAgent.start();
    const next = await machine.untilServing('web');
    assert.notEqual(next.sandboxId, old.sandboxId);
    await machine.until('the other one is gone', (pods) => pods.length === 1);
    await machine.untilAddresses(next.status.podIP);
    machine.drop('web.json');
    await machine.untilGone();
  }
});

/** As a power cut does it: the programs of pods and what holds them, then their namespaces. */
async function endPods(machine: PodMachine): Promise<void> {
  const { paths, host } = machine;
  const files = fs.readdirSync(paths.netns).map((name) => path.join(paths.netns, name));
  const inside = processesIn(new Set(files.map((file) => fs.statSync(file).ino)));
  [...inside, ...processesWith('podwire-hold', `${host.directory}/`)].forEach(killQuietly);
  const mounts = mountsBelow(paths.state).map((mount) => mount.path);
  for (const file of [...files, ...mounts.reverse()]) await run(['umount', '--lazy', file]);
  machine.letNamespacesGo();
}

describe('behind a CRI socket', () => {
  let machine: PodMachine;
  let service: Service;
  let socket: string;
  before(async () => {
    machine = await createPodMachine({
      name: 'stp',
      chain: installRecorder,
      runtime: async ({ host, paths, config }) => {
        socket = path.join(host.directory, 'cri.sock');
        service = startEntry(host, 'cri-service-entry', { ...config, socket }, paths.orders);
        await service.start();
        return { runtime: socket };
      },
    });
  });
  afterEach(() => machine.assertNothingLeft());
  after(() => machine.close());

  test('twenty StopPodSandbox at once, and one more: one DEL', async (context) => {
    const cri = await connectCri({ socket });
    context.after(() => cri.close());
    const metadata = { name: 'twenty', namespace: 'shop', uid: 'uid-twenty', attempt: 0 };
    const { podSandboxId } = await cri.runPodSandbox({
      config: PodSandboxConfig.fromPartial({ metadata, hostname: 'twenty' }),
      runtimeHandler: '',
    });
    await Promise.all(Array.from({ length: 20 }, () => cri.stopPodSandbox({ podSandboxId })));
    await cri.stopPodSandbox({ podSandboxId });
    const { items } = await cri.listPodSandbox({});
    assert.deepEqual(
      items.map(({ state }) => state),
      [PodSandboxState.SANDBOX_NOTREADY],
    );
    const calls = fs.readFileSync(path.join(machine.host.directory, 'calls'), 'utf8').trim().split('\n');
    const own = calls.filter((call) => call.endsWith(podSandboxId));
    assert.deepEqual(own, [`ADD ${podSandboxId}`, `DEL ${podSandboxId}`]);
    await cri.removePodSandbox({ podSandboxId });
  });

  test('the service is killed while pods run: they go on, and the pod agent finds them again', async () => {
    machine.write('web.json', webPod('web'));
    const old = await machine.untilServing('web');
    await service.kill9();
    assert.equal(await machine.fetch(old.status.podIP ?? ''), 'web\n');
    await service.start();
    const next = await machine.untilServing('web');
    assert.equal(next.sandboxId, old.sandboxId);
    assert.deepEqual(
      next.status.containerStatuses.map(({ restartCount }) => restartCount),
      [0],
    );
    machine.drop('web.json');
    await machine.untilGone();
  });
});
