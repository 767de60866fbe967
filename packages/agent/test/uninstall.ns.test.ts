/** `podwire uninstall` on a node that an agent has worked on: the real program, in a private host. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  type Agent,
  type CommandError,
  createPrivateHost,
  defaultAgentEntry,
  type PrivateHost,
  startAgent,
} from '@podwire/testkit';
import { callPlugin } from './fakes/plugin-client.js';

interface Uninstalled {
  readonly changes: readonly { path: string; action: string }[];
  readonly node: readonly { action: string; what: string }[];
}

const podwire = defaultAgentEntry.slice(0, 1);
const parameters = [
  'net/ipv4/ip_forward',
  'net/ipv4/conf/default/forwarding',
  'net/ipv6/conf/all/forwarding',
  'net/ipv6/conf/eth0/accept_ra',
  'net/ipv6/conf/default/accept_ra',
];
const asHost = ['0', '0', '0', '1', '1'];
const asAgentsNode = ['1', '1', '1', '2', '2'];

let host: PrivateHost;

beforeEach(async () => {
  host = await createPrivateHost({ name: 'uninstall', world: true });
  for (const family of ['ip', 'ip6'])
    await host.run([
      'nft',
      `add table ${family} filter; add chain ${family} filter FORWARD { type filter hook forward priority 0; policy drop; }`,
    ]);
});
afterEach(() => host.close());

const read = (key: string): string =>
  host.namespace.inside(() => fs.readFileSync(`/proc/sys/${key}`, 'utf8').trim());
const write = (key: string, value: string): void =>
  host.namespace.inside(() => fs.writeFileSync(`/proc/sys/${key}`, value));
const state = (): string[] => parameters.map(read);
const ruleset = (): Promise<string> => host.run(['nft', 'list', 'ruleset']);
const folders = (): string[] => [
  '--cni-bin-dir',
  path.join(host.directory, 'bin'),
  '--cni-conf-dir',
  path.join(host.directory, 'net.d'),
];

async function uninstall(...options: string[]): Promise<Uninstalled> {
  const output = await host.run([...podwire, 'uninstall', ...folders(), ...options, '-o', 'json']);
  return JSON.parse(output) as Uninstalled;
}

async function ask(agent: Agent, command: 'ADD' | 'DEL', netns: string): Promise<void> {
  const answer = await callPlugin(agent.socket, { command, id: 'web', netns });
  assert.ok(answer?.ok, JSON.stringify(answer));
}

/** Of an agent with another state directory. */
function otherConfig(): string {
  const file = path.join(host.directory, 'other.yaml');
  fs.writeFileSync(file, JSON.stringify({ stateDir: path.join(host.directory, 'other') }));
  return file;
}

/** A node that had a pod, and whose agent has stopped. */
async function useAgent(): Promise<Agent> {
  const agent = await startAgent(host);
  const pod = host.addPod('web');
  await ask(agent, 'ADD', pod.path);
  await ask(agent, 'DEL', pod.path);
  await agent.stop();
  return agent;
}

describe('uninstall', () => {
  test('makes a node again what it was before the agent', async () => {
    assert.deepEqual(state(), asHost);
    const before = await ruleset();
    const agent = await useAgent();
    assert.deepEqual(state(), asAgentsNode);
    assert.match(await ruleset(), /PODWIRE-FORWARD[^]*table inet podwire/);

    const { node } = await uninstall('--config', agent.configFile);
    assert.deepEqual(state(), asHost);
    assert.equal(await ruleset(), before);
    assert.equal(await host.run(['ip', 'route', 'show', 'table', 'all', 'proto', '157']), '');
    assert.equal(fs.existsSync(agent.stateDirectory), false);
    assert.deepEqual(new Set(node.map(({ action }) => action)), new Set(['restored', 'removed']));
    assert.deepEqual((await uninstall('--config', agent.configFile)).node, []);

    await agent.start();
    assert.deepEqual(state(), asAgentsNode);
  });

  test('changes nothing of the node while an agent runs or pods are left, and says so', async () => {
    const agent = await startAgent(host);
    await host.run([...podwire, 'install', ...folders(), '--cni-socket', agent.socket]);
    const pod = host.addPod('web');
    await ask(agent, 'ADD', pod.path);
    const before = await ruleset();

    await assert.rejects(uninstall('--config', agent.configFile), (error: CommandError) => {
      assert.match(error.stdout, /CONFIRMATION_MISSING[^]*1 pod runs \(test\/web\)/);
      return true;
    });
    assert.equal(fs.existsSync(path.join(host.directory, 'bin', 'podwire-cni')), true);
    const { changes, node } = await uninstall('--config', agent.configFile, '--force');
    assert.deepEqual(new Set(changes.map(({ action }) => action)), new Set(['removed']));
    const [kept, ...more] = node;
    assert.deepEqual(more, []);
    assert.equal(kept?.action, 'kept');
    assert.match(kept.what, /another agent .*; stop the agent and run uninstall again$/);
    const other = otherConfig();
    const elsewhere = await uninstall('--config', other);
    assert.match(elsewhere.node[0]!.what, /another agent .* serves this network namespace/);

    await agent.stop();
    const withPod = await uninstall('--config', agent.configFile, '--force');
    assert.match(withPod.node[0]!.what, /endpoints has 1 record.*run uninstall again$/);
    const unrecorded = await uninstall('--config', other);
    assert.match(unrecorded.node[0]!.what, /1 pod link.*--config/);
    assert.equal(await ruleset(), before);
    assert.deepEqual(state(), asAgentsNode);
  });

  test('leaves forwarding on where it was on', async () => {
    write('net/ipv4/ip_forward', '1');
    const agent = await useAgent();
    await uninstall('--config', agent.configFile);
    assert.deepEqual(state(), ['1', '1', ...asHost.slice(2)]);
  });

  test('leaves forwarding on for a bridge that has come since', async () => {
    const agent = await useAgent();
    await host.namespace.ip('link add docker0 type bridge');
    const { node } = await uninstall('--config', agent.configFile);
    const kept = node.filter(({ action }) => action === 'kept').map(({ what }) => what);
    assert.deepEqual(kept, ['IPv4 forwarding: docker0 came since', 'IPv6 forwarding: docker0 came since']);
    assert.deepEqual(state(), asAgentsNode);
    assert.doesNotMatch(await ruleset(), /podwire/i);
  });

  test('goes on where a parameter cannot be set, keeps the packet filter, and does the rest when it is run again', async () => {
    const agent = await useAgent();
    const file = path.join(agent.stateDirectory, 'router.json');
    const good = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(
      file,
      good.replace('default/forwarding":"0"', `default/forwarding":"${'9'.repeat(30)}"`),
    );
    await assert.rejects(uninstall('--config', agent.configFile), (error: CommandError) => {
      assert.equal(error.exit.code, 1);
      const failed = (JSON.parse(error.stdout) as Uninstalled).node.filter(
        ({ action }) => action === 'failed',
      );
      assert.match(failed.map(({ what }) => what).join(), /^IPv4 forwarding: .*conf\/default\/forwarding/);
      return true;
    });
    assert.deepEqual(state(), asHost);
    assert.match(await ruleset(), /table inet podwire/);

    fs.writeFileSync(file, good);
    await uninstall('--config', agent.configFile);
    assert.doesNotMatch(await ruleset(), /podwire/i);
  });
});
