/** Pools that meet the addresses of the node: the real agent on a host whose network it could take away. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { type Agent, createPrivateHost, eventually, type PrivateHost, startAgent } from '@podwire/testkit';
import { askApi, callPlugin, type ClientAnswer } from './fakes/plugin-client.js';

const routesOf = async (host: PrivateHost, address: string): Promise<string> =>
  host.run(['ip', 'route', 'get', address]);
const problemsOf = async (agent: Agent): Promise<string[]> =>
  (await askApi(agent.apiSocket, '/v1/status'))['problems'] as string[];

async function add(host: PrivateHost, agent: Agent, config: object = {}): Promise<ClientAnswer> {
  const pod = host.addPod();
  const answer = await callPlugin(agent.socket, {
    command: 'ADD',
    id: pod.name,
    netns: pod.path,
    config: { ...config },
  });
  assert.ok(answer, 'the agent died');
  return answer;
}
const addressOf = ({ ok, json }: ClientAnswer): string => {
  assert.ok(ok, JSON.stringify(json));
  return (json['ips'] as { address: string }[])[0]!.address.split('/')[0]!;
};

/** eth0 is 192.0.2.10/24, its router 192.0.2.1. */
async function createFixture(cidr: string, blockSize = 26): Promise<{ host: PrivateHost; agent: Agent }> {
  const host = await createPrivateHost({ name: 'uses', world: { ipv6: false } });
  const networks = [{ name: 'default', pools: [{ cidr, blockSize }] }];
  const agent = await startAgent(host, { config: { networks, coolDown: '0s' } });
  return { host, agent };
}

describe('a pool that is the network of the uplink', () => {
  let host: PrivateHost;
  let agent: Agent;
  before(async () => ({ host, agent } = await createFixture('192.0.2.0/24')));
  after(async () => host.close());

  test('gives nothing away, says why, and leaves the way to the network as it is', async () => {
    for (const config of [
      {},
      { args: { cni: { ips: ['192.0.2.1'] } } },
      { runtimeConfig: { ips: ['192.0.2.10/24'] } },
    ]) {
      const { ok, json } = await add(host, agent, config);
      assert.ok(!ok, JSON.stringify(json));
      assert.match(json.msg ?? '', /192\.0\.2\.\S+ is (the network of|an address of) eth0|is a next hop/);
    }
    assert.match(
      (await problemsOf(agent)).join('\n'),
      /POOL_INVALID.*192\.0\.2\.0\/24 is the network of eth0/,
    );
    assert.match(await routesOf(host, '192.0.2.1'), /dev eth0/);
    assert.doesNotMatch(await host.run(['ip', 'route']), /blackhole/);
  });
});

describe('a pool that has the network of the uplink in it', () => {
  let host: PrivateHost;
  let agent: Agent;
  before(async () => ({ host, agent } = await createFixture('192.0.0.0/22', 24)));
  after(async () => host.close());

  test('gives pods its other addresses, and refuses those that are asked for', async () => {
    const network = parsePrefix('192.0.2.0/24');
    for (let count = 0; count < 3; count++)
      assert.ok(!containsAddress(network, parseAddress(addressOf(await add(host, agent)))));
    for (const address of ['192.0.2.1', '192.0.2.10', '192.0.2.77']) {
      const { ok, json } = await add(host, agent, { runtimeConfig: { ips: [address] } });
      assert.ok(!ok);
      assert.match(json.msg ?? '', /eth0|next hop/);
    }
    assert.match(await routesOf(host, '192.0.2.77'), /dev eth0/);
  });

  test('an address that a link gets later is not given away; a pod that has it is reported', async () => {
    const had = addressOf(await add(host, agent));
    const next = had.replace(/\d+$/, (last) => String(Number(last) + 1));
    await host.namespace.ip(`addr add ${had}/32 dev lo`, `addr add ${next}/32 dev lo`);
    const doubled = `has ${had}, but ${had} is an address of lo`;
    await eventually('the pod is reported', async () => {
      const found = (await problemsOf(agent)).filter((text) => text.startsWith('ADDRESS_IN_USE'));
      return (found.length === 1 && found[0]!.includes(doubled)) || found.join();
    });
    assert.notEqual(addressOf(await add(host, agent)), next);
    await host.namespace.ip(`addr del ${had}/32 dev lo`, `addr del ${next}/32 dev lo`);
    await eventually('all is well', async () => !(await problemsOf(agent)).join().includes('ADDRESS_IN_USE'));
  });

  test('an agent that starts again does the same', async () => {
    await agent.stop();
    await agent.start();
    assert.match((await problemsOf(agent)).join('\n'), /192\.0\.2\.0\/24 is the network of eth0/);
    const { ok } = await add(host, agent, { runtimeConfig: { ips: ['192.0.2.10'] } });
    assert.ok(!ok);
  });
});
