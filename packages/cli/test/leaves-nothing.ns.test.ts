/** `podwire down` after `podwire up`, and `podwire uninstall` after `podwire install`, leave a machine as they found it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { isAlive, type ProcessMark } from '@podwire/linux';
import {
  assertSameSnapshot,
  createPrivateHost,
  eventually,
  mountsBelow,
  type PrivateHost,
  startAgent,
  takeSnapshot,
  type WorldOptions,
} from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';
import { placesIn } from '../src/pods/locate.js';

const podwire = [process.execPath, checkoutFile('bin/podwire')];

let host: PrivateHost | undefined;
afterEach(() => host?.close());

/** Not in the snapshot of tests: every parameter below net, but the number of connections, which time out. */
const everyParameter = (on: PrivateHost): Record<string, string> =>
  on.namespace.inside(() => readAll('/proc/sys/net'));

function readAll(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) Object.assign(found, readAll(file));
    else if (entry.name !== 'nf_conntrack_count') found[file] = readOne(file);
  }
  return found;
}

function readOne(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return 'cannot be read'; // a trigger (flush), or without a value (stable_secret)
  }
}

async function look(on: PrivateHost) {
  const snapshot = await takeSnapshot(on.namespace, { files: [on.directory], processes: true });
  return { ...snapshot, parameters: everyParameter(on), mounts: { list: mountsBelow(on.directory) } };
}

async function prepareHost(world: WorldOptions = {}) {
  const made = await createPrivateHost({ name: 'nothing', world });
  host = made;
  const directory = path.join(made.directory, 'not/there/yet');
  const manifest = path.join(made.directory, 'pod.yaml');
  fs.writeFileSync(manifest, JSON.stringify(pod));
  await made.run(['nft', 'add table ip mine; add chain ip mine c; add rule ip mine c tcp dport 7 drop']);
  const run = (...argv: string[]): Promise<string> =>
    made.run([...podwire, ...argv, '--directory', directory]);
  return { host: made, run, directory, manifest, before: await look(made) };
}

const pod = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        ...{ name: 'main', image: 'none', command: ['/bin/sleep', '1000'] },
        ports: [{ containerPort: 80, hostPort: 8080 }],
      },
    ],
  },
};

describe('down', () => {
  test('leaves nothing of a pod with two families and a host port', async () => {
    const { host: on, run, directory, manifest, before } = await prepareHost();
    await run('up', manifest);
    assert.match(await on.run(['nft', 'list', 'ruleset']), /table inet podwire/);
    assert.match(await on.run(['ip', 'route']), /blackhole 10.244.0.0\/26/);
    assert.match(await run('down'), /^all gone$/m);
    assertSameSnapshot(before, await look(on));
    assert.equal(fs.existsSync(directory), false);
  });

  test('leaves nothing where the node speaks IPv4 only', async () => {
    const { host: on, run, manifest } = await prepareHost({ ipv6: false });
    const off = '/proc/sys/net/ipv6/conf/all/disable_ipv6';
    on.namespace.inside(() => fs.writeFileSync(off, '1'));
    const before = await look(on);
    await run('up', manifest);
    await run('down');
    assertSameSnapshot(before, await look(on));
  });

  test('leaves a node that was hardened, and a router, as they were', async () => {
    const { host: on, run, manifest } = await prepareHost();
    const set = {
      ...{ 'ipv4/conf/all/accept_redirects': '0', 'ipv4/conf/eth0/forwarding': '1' },
      ...{ 'ipv6/conf/all/forwarding': '1', 'ipv6/conf/eth0/accept_ra': '2', 'ipv6/conf/lo/forwarding': '0' },
    };
    on.namespace.inside(() => {
      for (const [key, value] of Object.entries(set)) fs.writeFileSync(`/proc/sys/net/${key}`, value);
    });
    const before = await look(on);
    await run('up', manifest);
    await run('down');
    assertSameSnapshot(before, await look(on));
  });

  test('keeps what others have put into its directory, and a configuration that was edited', async () => {
    const { host: on, run, directory, manifest, before } = await prepareHost();
    await run('up', manifest);
    const places = placesIn(directory);
    fs.appendFileSync(places.agentConfig, 'log: { level: debug }\n');
    fs.writeFileSync(path.join(places.podletState, 'notes'), 'mine');
    await run('down');
    assert.deepEqual(fs.readdirSync(directory).toSorted(), ['agent.yaml', 'podlet']);
    assert.deepEqual(fs.readdirSync(places.podletState), ['notes']);
    fs.rmSync(path.join(on.directory, 'not'), { recursive: true });
    assertSameSnapshot(before, await look(on));
  });

  test('that was killed in the middle is finished by the next one, also when both agents are dead', async () => {
    const { host: on, run, directory, manifest, before } = await prepareHost();
    await run('up', manifest);
    const places = placesIn(directory);
    const { agent, podlet } = JSON.parse(fs.readFileSync(places.started, 'utf8')) as Record<
      'agent' | 'podlet',
      ProcessMark
    >;
    // Nothing ends while another `podwire up` starts agents: so it stands still behind its pods.
    const held = on.start(['flock', places.startLock, 'sleep', '1000']);
    await eventually('the lock is held', async () => isHeld(on, places.startLock));
    const first = on.start([...podwire, 'down', '--directory', directory]);
    await first.waitForOutput(/pods ended/);
    for (const pid of [first.pid, podlet.pid, agent.pid]) process.kill(pid, 'SIGKILL');
    await eventually('both have ended', () => !isAlive(podlet) && !isAlive(agent));
    await held.stop();
    assert.notEqual(await on.run(['ip', 'route', 'show', 'proto', '157']), '');

    assert.match(await run('down'), /^all gone$/m);
    assertSameSnapshot(before, await look(on));
  });

  test('leaves the node to an agent that was there before', async () => {
    const { host: on, run, directory, manifest } = await prepareHost();
    const places = placesIn(directory);
    const agent = await startAgent(on, {
      config: { socket: places.agentSocket, apiSocket: places.agentApi },
    });
    fs.mkdirSync(directory, { recursive: true });
    const before = await look(on);
    await run('up', manifest);
    await run('down');
    // It keeps the block that the pod had its address of.
    const ignore = [/^routes\/blackhole/, /^files\/.*agent\/(log|state)/];
    assertSameSnapshot(before, await look(on), { ignore });
    await agent.stop();
  });
});

async function isHeld(on: PrivateHost, file: string): Promise<boolean> {
  return on.run(['flock', '-n', file, 'true']).then(
    () => false,
    () => true,
  );
}

test('uninstall leaves nothing of install and of the agent between them', async () => {
  const { host: on, before } = await prepareHost();
  const at = (name: string): string => path.join(on.directory, name);
  const folders = ['--cni-bin-dir', at('opt/cni/bin'), '--cni-conf-dir', at('etc/cni/net.d')];
  const agent = await startAgent(on);
  await on.run([...podwire, 'install', ...folders, '--cni-socket', agent.socket]);
  await agent.stop();
  await on.run([...podwire, 'uninstall', ...folders, '--config', agent.configFile]);
  // The log and the configuration are the test's.
  fs.rmSync(path.dirname(agent.configFile), { recursive: true });
  assertSameSnapshot(before, await look(on));
});
