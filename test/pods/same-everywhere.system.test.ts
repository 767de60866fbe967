/** The same manifests have the same results on every runtime and with every network. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { replaceFileSync } from '@podwire/platform';
import type { PodView } from '@podwire/podlet';
import {
  mountsBelow,
  type PrivateHost,
  processesIn,
  type Snapshot,
  takeSnapshot,
  untilSameSnapshot,
} from '@podwire/testkit';
import { watchUntil } from './support/board.js';
import { webPod } from './support/manifests.js';
import { describePods, observe } from './support/observe.js';
import { expected, makeManifests } from './support/ten-manifests.js';
import { createSetup, type NetworkName, type RuntimeName, type Setup } from './support/setups.js';

const combinations: readonly (readonly [RuntimeName, NetworkName])[] = [
  ['embedded', 'podwire'],
  ['containerd', 'podwire'],
  ['docker', 'podwire'],
  ['docker with its own network', 'podwire'],
  ['embedded', 'debian'],
];

function put(setup: Setup, files: Readonly<Record<string, object>>): void {
  for (const [name, content] of Object.entries(files))
    replaceFileSync(path.join(setup.manifests, name), JSON.stringify(content));
}

async function until(setup: Setup, what: string, isSo: (pods: readonly PodView[]) => boolean) {
  try {
    const socket = path.join(setup.directory, 'podlet.sock');
    return (await watchUntil(socket, what, ({ pods }) => isSo(pods))).pods;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${setup.podAgent.log()}`, { cause: error });
  }
}

function dropAll({ manifests }: Setup): void {
  for (const name of fs.readdirSync(manifests)) fs.rmSync(path.join(manifests, name));
}

/** A pod that has ended has let go of its sandbox, too. */
const hasEnded = (pods: readonly PodView[]): boolean =>
  pods.every(
    ({ status, stage }) => !['Succeeded', 'Failed'].includes(status.phase) || stage === 'terminated',
  );

const list = (directory: string): string[] => (fs.existsSync(directory) ? fs.readdirSync(directory) : []);

interface Pin {
  readonly file: string;
  readonly inode: number;
}

/** Docker leaves the empty file where its pin was, for a while. */
const isPinned = ({ file, inode }: Pin): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.ino === inode;

/** The machine's own, which Docker pins when a container first has it. */
const namespaceOfDocker = (host: PrivateHost): string =>
  path.join(host.directory, 'docker/exec/netns/default');

/** The node, and everything on it that belongs to pods. */
async function picture(setup: Setup, pins: readonly Pin[] = []): Promise<Snapshot> {
  const { host, directory } = setup;
  const at = (name: string): string => path.join(directory, name);
  return {
    ...(await takeSnapshot(host.namespace, { processes: true })),
    pods: {
      runtime: await setup.remains(),
      directories: list(at('podlet/pods')),
      logs: list(at('logs')),
      sandboxes: [...list(at('embedded/sandboxes')), ...list(at('docker/sandbox'))],
      containers: list(at('embedded/containers')),
      attachments: [...list(at('network/sandboxes')), ...list(at('network/cache/results'))],
      endpoints: list(path.join(host.directory, 'agent/state/endpoints')),
      leases: list(path.join(host.directory, 'leases/debian')).filter((name) => /^\d+\./.test(name)),
      mounts: mountsBelow(host.directory)
        .map(({ path: place }) => place)
        .filter((place) => place !== namespaceOfDocker(host)),
      pins: pins.filter(isPinned).map(({ file }) => file),
      programs: processesIn(new Set(pins.map(({ inode }) => inode))),
    },
  };
}

/** Processes and pods of the node. */
const aliveIn = ({ processes = {}, pods = {} }: Snapshot): Snapshot => ({ processes, pods });

/** While it is open, the kernel does not give its number to another namespace. */
function hold(pin: Pin): Pin {
  held.push(fs.openSync(pin.file, 'r'));
  return pin;
}
const held: number[] = [];

/** Where the pods' network namespaces are pinned: by us in the directory of `ip netns`, by engines in their own paths. */
function pinsOf({ host }: Setup, pods: readonly PodView[]): Pin[] {
  const own = pods
    .map(({ sandboxId }) => `/run/netns/podwire-${sandboxId}`)
    .filter((pin) => fs.existsSync(pin));
  const ofEngine = mountsBelow(host.directory).filter(({ type }) => type === 'nsfs');
  return [...own, ...ofEngine.map((mount) => mount.path)]
    .map((file) => ({ file, inode: fs.statSync(file).ino }))
    .filter(({ inode }) => inode !== host.namespace.inode)
    .map(hold);
}

/** The remains are the node's own: Debian's bridge and chains, the claim of a block, directories of the engine. */
const ofTheNode = [/cni0/, /fe80::/, /ff00::/, /^nftables\//];

/** Also after a failure nothing may be left: pods of the embedded runtime outlive everything. */
async function close(setup: Setup): Promise<void> {
  held.splice(0).forEach((descriptor) => fs.closeSync(descriptor));
  dropAll(setup);
  await until(setup, 'nothing', (pods) => pods.length === 0).finally(() => setup.host.close());
}

for (const [runtime, network] of combinations) {
  describe(`${runtime} with ${network === 'podwire' ? 'podwire-cni' : 'bridge, host-local and portmap'}`, () => {
    test('everything comes to be as it should, and goes without a trace', { timeout: 200_000 }, async () => {
      const setup = await createSetup(runtime, network);
      try {
        const alive = aliveIn(await picture(setup));
        put(setup, { 'first.json': webPod('first') });
        await until(setup, 'the first pod', (pods) => pods.some(({ status }) => status.phase === 'Running'));
        dropAll(setup);
        await until(setup, 'nothing', (pods) => pods.length === 0);
        // A process that an engine starts for a pod ends a moment after it; it must be in no later comparison.
        await untilSameSnapshot(alive, async () => aliveIn(await picture(setup)), { timeout: 20_000 });
        const before = await picture(setup);
        put(setup, makeManifests(setup.out));
        const wanted = JSON.stringify(expected.pods);
        const pods = await until(
          setup,
          wanted,
          (all) => hasEnded(all) && JSON.stringify(describePods(all)) === wanted,
        );
        const pins = pinsOf(setup, pods);
        // Of the pods that run; Docker pins each once more, for itself.
        assert.equal(new Set(pins.map(({ inode }) => inode)).size, 4);
        const { terminationMessages, ...rest } = expected;
        assert.deepEqual(await observe(setup, pods), rest);
        dropAll(setup);
        await until(setup, 'nothing', (all) => all.length === 0);
        const words = fs.readFileSync(path.join(setup.out, 'graceful'), 'utf8').trim().split('\n');
        assert.deepEqual(words, terminationMessages);
        await untilSameSnapshot(before, () => picture(setup, pins), { ignore: ofTheNode });
      } finally {
        await close(setup);
      }
    });
  });
}
