/** Pods beside a Docker Engine with its own settings: whichever comes first, both have their network. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import {
  type Agent,
  assertBlocked,
  assertPasses,
  createPrivateHost,
  type PrivateHost,
  startAgent,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { startDocker } from '@podwire/testkit/docker';
import { askApi, callPlugin } from './fakes/plugin-client.js';

let host: PrivateHost;

beforeEach(async () => {
  host = await createPrivateHost({ name: 'beside', world: true });
});
afterEach(() => host.close());

interface Pod {
  readonly namespace: TestNamespace;
  readonly address: string;
}

async function addPod(agent: Agent, name: string): Promise<Pod> {
  const namespace = host.addPod(name);
  const answer = await callPlugin(agent.socket, { command: 'ADD', id: name, netns: namespace.path });
  assert.ok(answer?.ok, JSON.stringify(answer));
  const [ip] = answer.json['ips'] as { address: string }[];
  return { namespace, address: ip!.address.split('/')[0]! };
}

async function assertConnected(a: Pod, b: Pod): Promise<void> {
  await assertPasses(a.namespace, b.namespace, b.address);
  await assertPasses(a.namespace, host.world!, worldAddresses.beyond.ipv4);
}

const forwardRules = (): Promise<string> => host.run(['iptables', '-S', 'FORWARD']);

test('Docker first: its policy drops, and pods pass in its place', async () => {
  const docker = await startDocker(host, { network: 'default' });
  // By itself the agent would repair what the firewall does below, while packets are sent to show what that does.
  const agent = await startAgent(host, { config: { watchDrift: false } });
  const [a, b] = [await addPod(agent, 'a'), await addPod(agent, 'b')];
  await assertConnected(a, b);
  assert.match(await forwardRules(), /^-P FORWARD DROP[^]*-j PODWIRE-FORWARD$/m);

  await docker.kill9();
  await docker.start();
  await assertConnected(a, b);

  // A firewall that writes its rules anew leaves none of ours.
  await host.run(['iptables', '-F', 'FORWARD']);
  const way = [{ namespace: host.namespace, address: worldAddresses.host.ipv4 }];
  await assertBlocked(a.namespace, b.namespace, b.address, way);
  await askApi(agent.apiSocket, '/v1/reconcile', {});
  await assertConnected(a, b);
  await askApi(agent.apiSocket, '/v1/reconcile', {});
  assert.equal((await forwardRules()).match(/PODWIRE-FORWARD/g)?.length, 1);
});

test('the agent first: Docker finds forwarding on, and its bridge is let through', async () => {
  const agent = await startAgent(host);
  const [a, b] = [await addPod(agent, 'a'), await addPod(agent, 'b')];
  await startDocker(host, { network: 'default' });
  await assertConnected(a, b);

  const guest = host.addPod('guest');
  await host.namespace.ip(
    `link add guest0 type veth peer name eth0 netns ${guest.name}`,
    'link set guest0 master docker0 up',
  );
  await guest.ip('addr add 172.17.0.9/16 dev eth0', 'link set eth0 up', 'route add default via 172.17.0.1');
  // From a container to the outside.
  await assertPasses(guest, host.world!, worldAddresses.beyond.ipv4);
});
