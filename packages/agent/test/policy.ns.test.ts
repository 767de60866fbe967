/** Policy on a real kernel: before the first packet, while the agent is dead, and after it was started again. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  assertBlocked,
  createPrivateHost,
  eventually,
  type PrivateHost,
  reaches,
  serveEcho,
  startAgent,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const entry = [process.execPath, path.join(import.meta.dirname, 'faulty-agent.js')];

let host: PrivateHost;
let agent: Agent;
let objects: string;

before(async () => {
  host = await createPrivateHost({ name: 'policy', world: { mtu: 1400 } });
  objects = path.join(host.directory, 'objects');
  fs.mkdirSync(objects);
  const config = { coolDown: '0s', objects: { directory: objects }, policy: { labelWait: '100ms' } };
  agent = await startAgent(host, { entry, config });
});
after(async () => host.close());

interface Pod {
  readonly namespace: TestNamespace;
  readonly name: string;
  readonly address: string;
}

type Labels = Readonly<Record<string, string>>;

const request = (name: string, namespace: TestNamespace, labels: Labels | undefined) => ({
  ...{ id: namespace.name, netns: namespace.path, args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}` },
  config:
    labels === undefined
      ? {}
      : { args: { cni: { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } } },
});

async function add(name: string, labels: Labels, namespace = host.addPod()): Promise<Pod> {
  const answer = await callPlugin(agent.socket, { command: 'ADD', ...request(name, namespace, labels) });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  const [ip] = answer.json['ips'] as { address: string }[];
  return { namespace, name, address: ip!.address.split('/')[0]! };
}

const onlyClients = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: only-clients, namespace: shop }
spec:
  podSelector: { matchLabels: { app: db } }
  ingress:
    - from: [{ podSelector: { matchLabels: { role: client } } }]
`;

async function apply(name: string, text: string): Promise<void> {
  const before = await stateOf();
  // In one step: the agent must not see the file before its text.
  fs.writeFileSync(`${objects}-next`, text);
  fs.renameSync(`${objects}-next`, path.join(objects, `${name}.yaml`));
  await eventually('the policy is in force', async () => (await stateOf()).revision !== before.revision);
}

interface State {
  readonly revision: number;
  readonly inForce: boolean;
  readonly lastChange: { readonly resources: number };
  readonly problems: readonly { readonly object: string; readonly message: string }[];
}

const stateOf = async (): Promise<State> => (await askApi(agent.apiSocket, '/v1/policy')) as unknown as State;

const asks = async (from: Pod, to: Pod): Promise<boolean> => {
  const server = await serveEcho(to.namespace, 'udp', to.address, 0);
  try {
    return await reaches(from.namespace, 'udp', to.address, server.port);
  } finally {
    await server.close();
  }
};

/** Markers go through the node, which policy lets reach its pods. */
const assertDenied = (from: Pod, to: Pod): Promise<void> =>
  assertBlocked(from.namespace, to.namespace, to.address, [
    { namespace: host.namespace, address: worldAddresses.host.ipv4 },
  ]);

const verdict = async (from: Pod, to: Pod): Promise<unknown> => {
  const asked = { from: `pod/shop/${from.name}`, to: `pod/shop/${to.name}`, protocol: 'udp', port: 53 };
  return (await askApi(agent.apiSocket, '/v1/policy/explain', asked))['verdict'];
};

test('a policy holds from the first packet on, follows labels, and outlives the agent', async () => {
  const [client, other] = [await add('client', { role: 'client' }), await add('other', {})];
  const db = await add('db', { app: 'db' });
  assert.ok(await asks(other, db), 'without a policy every pod reaches it');
  await apply('only-clients', onlyClients);
  assert.ok(await asks(client, db));
  await assertDenied(other, db);
  assert.deepEqual([await verdict(client, db), await verdict(other, db)], ['allow', 'deny']);

  await agent.kill9();
  assert.ok(await asks(client, db));
  await assertDenied(other, db);
  await agent.start();
  assert.ok(await asks(client, db));
  await assertDenied(other, db);

  await add('other', { role: 'client' }, other.namespace);
  assert.ok(await asks(other, db), 'its labels are others now');
});

test('the next pod of a kind is only elements, and is closed from the first packet on', async () => {
  const other = await add('stranger', {});
  await apply('cache', onlyClients.replace('only-clients', 'cache').replace('app: db', 'app: cache'));
  const remove = async ({ name, namespace }: Pod): Promise<void> => {
    const answer = await callPlugin(agent.socket, { command: 'DEL', ...request(name, namespace, undefined) });
    assert.ok(answer?.ok, JSON.stringify(answer?.json));
  };
  const changed = async (): Promise<number> => (await stateOf()).lastChange.resources;
  const kind = { app: 'cache' };
  // One for each direction, and one for each of its addresses.
  const elements = 2 + 2;
  const first = await add('cache-1', kind);
  assert.ok((await changed()) > elements, 'chains come with the first');
  await remove(first);
  assert.equal(await changed(), elements);
  const second = await add('cache-2', kind);
  assert.equal(await changed(), elements);
  await assertDenied(other, second);
});

const nft = (...words: string[]): Promise<string> => host.namespace.run(['nft', ...words]);

/** Addresses that pods' links may send from, without a look into the routes. */
async function sources(): Promise<string[]> {
  const listing = await nft('list', 'set', 'inet', 'podwire', 'sources4');
  return [...listing.matchAll(/"cali\S+" \. (\S+?)[,\s]/g)].map((match) => match[1]!).sort();
}

test('a pod has its sources from its ADD to its DEL, whatever others do to them', async () => {
  const before = await sources();
  const pod = await add('short', {});
  const both = [...before, pod.address].sort();
  assert.deepEqual(await sources(), both);

  await nft('flush', 'set', 'inet', 'podwire', 'sources4');
  await agent.kill9();
  await agent.start();
  await eventually('they are back', async () => (await sources()).join() === both.join());

  const del = await callPlugin(agent.socket, { command: 'DEL', ...request('short', pod.namespace, {}) });
  assert.ok(del?.ok, JSON.stringify(del));
  assert.deepEqual(await sources(), before);
});

test('a table of an older agent holds no policy up, and has the sources after the upgrade', async () => {
  const [client, db] = [await add('late', { role: 'client' }), await add('late-db', { app: 'db' })];
  const known = await sources();
  await agent.kill9();
  const [rules, set] = [
    await nft('-s', 'list', 'chain', 'inet', 'podwire', 'from_pod'),
    'inet podwire sources',
  ];
  const old = rules.replace(/iifname \. ip6? saddr != @sources[46] /g, '');
  const drops = ['4', '6'].map((family) => `delete set ${set}${family}\n`).join('');
  await host.namespace.run(['nft', '-f', '-'], {
    input: `flush chain inet podwire from_pod\n${old}\n${drops}`,
  });
  assert.ok(await asks(client, db), 'under the rules of the older one');
  await agent.start();
  assert.ok(await asks(client, db));
  await eventually('the sources are there', async () => (await sources()).join() === known.join());
});
