/** Policy beside a firewall that drops, behind translated ports, with addresses that change hands, and with large or wrong objects. */
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { addressToBytes, parseAddress } from '@podwire/addresses';
import { bindAddress, inNamespace, openDatagramSocket, openNamespace } from '@podwire/linux';
import {
  type Agent,
  ask,
  createPrivateHost,
  eventually,
  pings,
  type PrivateHost,
  reaches,
  serveEcho,
  startAgent,
  type TestNamespace,
  UnreachableError,
  worldAddresses,
} from '@podwire/testkit';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const port = 7;
const hostPort = 8080;
/** Milliseconds after which a packet that was not answered counts as dropped. */
const silence = 250;

let host: PrivateHost;
let agent: Agent;
let objects: string;

before(async () => {
  host = await createPrivateHost({ name: 'poltraf', world: { mtu: 1400 } });
  // As Docker does it.
  await host.run(['iptables', '-P', 'FORWARD', 'DROP']);
  objects = path.join(host.directory, 'objects');
  fs.mkdirSync(objects);
  const config = { coolDown: '0s', objects: { directory: objects }, policy: { labelWait: '100ms' } };
  agent = await startAgent(host, { config });
});
after(async () => host.close());

interface Pod {
  readonly namespace: TestNamespace;
  readonly name: string;
  readonly address: string;
}

type Labels = Readonly<Record<string, string>>;

interface PodOptions {
  readonly isPublished?: boolean;
  readonly ip?: string;
}

async function add(name: string, labels: Labels, { isPublished = false, ip }: PodOptions = {}): Promise<Pod> {
  const namespace = host.addPod();
  const mapping = { hostPort, containerPort: port, protocol: 'tcp' };
  const answer = await callPlugin(agent.socket, {
    ...{ command: 'ADD', id: namespace.name, netns: namespace.path },
    args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`,
    config: {
      args: { cni: { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } },
      capabilities: { portMappings: true, ips: true },
      runtimeConfig: {
        ...(isPublished && { portMappings: [mapping] }),
        ...(ip !== undefined && { ips: [ip] }),
      },
    },
  });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  const [first] = answer.json['ips'] as { address: string }[];
  return { namespace, name, address: first!.address.split('/')[0]! };
}

interface State {
  readonly inForce: boolean;
  readonly counts: { readonly objects: number };
  readonly problems: readonly { readonly object: string; readonly message: string }[];
}

const stateOf = async (): Promise<State> => (await askApi(agent.apiSocket, '/v1/policy')) as unknown as State;

async function untilObjects(count: number): Promise<State> {
  await eventually(`${count} objects are in force`, async () => {
    const { inForce, counts } = await stateOf();
    return (inForce && counts.objects === count) || `${counts.objects} objects`;
  });
  return stateOf();
}

const write = (name: string, text: string): void =>
  fs.writeFileSync(path.join(objects, `${name}.yaml`), text);

const policy = (name: string, app: string, from: string): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: ${name}, namespace: shop }
spec:
  podSelector: { matchLabels: { app: ${app} } }
  ingress:
    - from: [${from}]
`;

const clients = '{ podSelector: { matchLabels: { role: client } } }';

/** Sends again until an answer comes. */
const passes = (from: TestNamespace, address: string, to = port): Promise<boolean> =>
  reaches(from, 'tcp', address, to);

const isStopped = async (from: TestNamespace, address: string, to = port): Promise<boolean> =>
  !(await reaches(from, 'tcp', address, to, { timeout: silence }));

const node = worldAddresses.host.ipv4;

let client: Pod;
let other: Pod;
let db: Pod;

test('a firewall that drops what is forwarded: pods reach each other, and its accept in front is no way around policy', async () => {
  client = await add('client', { role: 'client' });
  other = await add('other', { role: 'other' });
  db = await add('db', { app: 'db' }, { isPublished: true });
  await serveEcho(db.namespace, 'tcp', '0.0.0.0', port);
  assert.ok(await passes(other.namespace, db.address));
  write('db', policy('db', 'db', clients));
  await untilObjects(1);
  assert.ok(await passes(client.namespace, db.address));
  assert.ok(await isStopped(other.namespace, db.address));
});

test('what was dropped is counted, by policy or tier', async () => {
  const since = await countDropped();
  for (let sent = 0; sent < 3; sent++)
    await reaches(other.namespace, 'udp', db.address, port, { timeout: 50 });
  assert.ok((await countDropped()) >= since + 3);
});

async function countDropped(): Promise<number> {
  const { text } = (await askApi(agent.apiSocket, '/metrics')) as { text: string };
  const found =
    /^podwire_policy_dropped_packets_total\{direction="ingress",reason="end-of-tier",tier="default",policy=""\} (\d+)$/m.exec(
      text,
    );
  return Number(found?.[1] ?? 0);
}

test('a port of the node is decided behind its translation, with the address of the client', async () => {
  const outside = host.world!;
  assert.ok(await isStopped(outside, node, hostPort), 'no rule lets it in');
  assert.ok(await passes(client.namespace, node, hostPort), 'a pod through the port of its node');
  assert.ok(await isStopped(other.namespace, node, hostPort));
  assert.ok(await isStopped(db.namespace, node, hostPort), 'back to itself: its own policy, too');
  write('outside', policy('outside', 'db', `{ ipBlock: { cidr: ${worldAddresses.world.ipv4}/32 } }`));
  await untilObjects(2);
  assert.ok(await passes(outside, node, hostPort));
  const { peer } = await ask(outside, 'tcp', node, hostPort);
  assert.equal(peer.address, worldAddresses.world.ipv4, 'the pod sees the client');
  write('outside', policy('outside', 'db', `{ ipBlock: { cidr: ${worldAddresses.beyond.ipv4}/32 } }`));
  await eventually('another address is let in', () => isStopped(outside, node, hostPort));
  const from = worldAddresses.beyond.ipv4;
  assert.ok(await reaches(outside, 'tcp', node, hostPort, { from }));
  fs.rmSync(path.join(objects, 'outside.yaml'));
  await untilObjects(1);
});

/** Of a service. */
const serviceAddress = '10.96.0.10';

test('a service is decided behind its translation, in both modes of kube-proxy', async () => {
  const target = `${db.address}:${port}`;
  const look = async (): Promise<readonly boolean[]> => [
    await passes(client.namespace, serviceAddress, 80),
    !(await isStopped(other.namespace, serviceAddress, 80)),
  ];
  const rule = [
    '-d',
    `${serviceAddress}/32`,
    '-p',
    'tcp',
    '--dport',
    '80',
    '-j',
    'DNAT',
    '--to-destination',
    target,
  ];
  await host.run(['iptables', '-t', 'nat', '-A', 'PREROUTING', ...rule]);
  assert.deepEqual(await look(), [true, false], 'iptables');
  await host.run(['iptables', '-t', 'nat', '-D', 'PREROUTING', ...rule]);
  const table = `table ip kube-proxy {
    chain services {
      type nat hook prerouting priority dstnat; policy accept;
      ip daddr ${serviceAddress} tcp dport 80 dnat to ${target}
    }
  }`;
  await host.run(['nft', '-f', '-'], { input: table });
  assert.deepEqual(await look(), [true, false], 'nftables');
  await host.run(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
});

/** A datagram to the database from a port that stays the same, as a connection of the owner before has used it. */
async function asksFrom(pod: Pod, to: Pod, patience = silence): Promise<boolean> {
  const namespace = openNamespace(pod.namespace.path);
  const fd = inNamespace(namespace, () => openDatagramSocket(4));
  bindAddress(fd, addressToBytes(parseAddress(pod.address)), samePort);
  const socket = dgram.createSocket('udp4').on('error', () => undefined);
  try {
    await new Promise<void>((resolve) => socket.bind({ fd }, () => resolve()));
    const answer = once(socket, 'message', { signal: AbortSignal.timeout(patience) });
    socket.send('x', port, to.address, () => undefined);
    return await answer.then(
      () => true,
      () => false,
    );
  } finally {
    socket.close();
    namespace.close();
  }
}

const samePort = 4711;
/** Milliseconds for an answer that must come. */
const generous = 30_000;

const remove = async ({ namespace }: Pod): Promise<void> => {
  const answer = await callPlugin(agent.socket, {
    command: 'DEL',
    id: namespace.name,
    netns: namespace.path,
  });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
};

const rules = (ingress: string): string => `apiVersion: projectcalico.org/v3
kind: NetworkPolicy
metadata: { name: protocols, namespace: shop }
spec: { selector: "app == 'target'", types: [Ingress], ingress: [${ingress}] }
`;
const fromClient = `source: { selector: "role == 'client'" }`;

test('SCTP and ICMP are allowed and denied like TCP', async () => {
  const target = await add('target', { app: 'target' });
  await serveEcho(target.namespace, 'sctp', target.address, port);
  /** Which of the four pass; what is expected to is sent again until it has. */
  const look = async (expected: Record<string, boolean> = {}): Promise<Record<string, boolean>> => {
    const patience = (name: string) => (expected[name] === true ? {} : { timeout: silence });
    const asks = (from: Pod, name: string): Promise<boolean> =>
      reaches(from.namespace, 'sctp', target.address, port, patience(name));
    const ping = (from: Pod, name: string): Promise<boolean> =>
      pings(from.namespace, target.address, patience(name).timeout);
    return {
      'SCTP of the client': await asks(client, 'SCTP of the client'),
      'SCTP of another': await asks(other, 'SCTP of another'),
      'a ping of the client': await ping(client, 'a ping of the client'),
      'a ping of another': await ping(other, 'a ping of another'),
    };
  };
  const assertLook = async (expected: Record<string, boolean>): Promise<void> =>
    assert.deepEqual(await look(expected), expected);
  const none = {
    ...{ 'SCTP of the client': false, 'SCTP of another': false },
    ...{ 'a ping of the client': false, 'a ping of another': false },
  };
  write('protocols', rules(''));
  await untilObjects(2);
  await assertLook(none);
  write(
    'protocols',
    rules(`{ action: Allow, protocol: SCTP, destination: { ports: [${port}] }, ${fromClient} }`),
  );
  await eventually('SCTP passes', async () => (await look())['SCTP of the client'] === true);
  await assertLook({ ...none, 'SCTP of the client': true });
  write('protocols', rules(`{ action: Allow, protocol: ICMP, icmp: { type: 8, code: 0 }, ${fromClient} }`));
  await eventually('pings pass', () => pings(client.namespace, target.address, silence));
  await assertLook({ ...none, 'a ping of the client': true });
  write('protocols', rules(`{ action: Allow, protocol: ICMP, icmp: { type: 13 }, ${fromClient} }`));
  await eventually('pings are denied', async () => !(await pings(client.namespace, target.address, silence)));
  fs.rmSync(path.join(objects, 'protocols.yaml'));
  await untilObjects(1);
  await remove(target);
});

test('an address that goes to a new owner takes no connection along, not even where the agent was dead', async () => {
  await serveEcho(db.namespace, 'udp', '0.0.0.0', port);
  const former = await add('former', { role: 'client' });
  assert.ok(await asksFrom(former, db, generous));
  await remove(former);
  const heir = await add('heir', { role: 'other' }, { ip: former.address });
  assert.equal(heir.address, former.address);
  assert.ok(!(await asksFrom(heir, db)), 'after a DEL');
  await remove(heir);

  const last = await add('last', { role: 'client' }, { ip: former.address });
  assert.ok(await asksFrom(last, db, generous));
  await agent.kill9();
  // The pod goes while nothing can hear of it: its namespace, and its link with it.
  last.namespace.delete();
  await agent.start();
  await remove(last);
  const next = await add('next', { role: 'other' }, { ip: former.address });
  assert.equal(next.address, former.address);
  assert.ok(!(await asksFrom(next, db)), 'after a death');
  await remove(next);
});

test('a malformed object between good ones is named, and the good ones are in force', async () => {
  const second = policy('second', 'cache', clients);
  write(
    'mixed',
    `${second}---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: { name: wrong }\nspec: { podSelektor: {} }\n`,
  );
  write('third', policy('third', 'web', clients));
  await eventually('the third policy is in force', async () => (await stateOf()).counts.objects >= 2);
  await eventually('the wrong one is named', async () => {
    const { problems } = await stateOf();
    return (
      problems.some(({ object, message }) => /mixed\.yaml/.test(`${object} ${message}`)) ||
      JSON.stringify(problems)
    );
  });
  assert.ok(await isStopped(other.namespace, db.address), 'what was in force stays');
  assert.ok(await passes(client.namespace, db.address));
  const web = await add('web', { app: 'web' });
  await serveEcho(web.namespace, 'tcp', '0.0.0.0', port);
  assert.ok(await isStopped(other.namespace, web.address), 'a good one in another file');
  for (const name of ['mixed', 'third']) fs.rmSync(path.join(objects, `${name}.yaml`));
  await untilObjects(1);
});

test('a policy with 10,000 prefixes is in force, and is taken back', async (context) => {
  const cidrs = Array.from(
    { length: 9_999 },
    (_, index) => `100.${64 + (index >> 14)}.${(index >> 6) & 255}.${(index & 63) * 4}/32`,
  );
  const from = [...cidrs, `${worldAddresses.beyond.ipv4}/32`]
    .map((cidr) => `{ ipBlock: { cidr: ${cidr} } }`)
    .join(', ');
  const since = performance.now();
  write('large', policy('large', 'db', from));
  await untilObjects(2);
  context.diagnostic(`in force after ${Math.round(performance.now() - since)} ms`);
  assert.deepEqual((await stateOf()).problems, []);
  const outside = host.world!;
  assert.ok(await reaches(outside, 'tcp', node, hostPort, { from: worldAddresses.beyond.ipv4 }));
  assert.ok(await isStopped(outside, node, hostPort));
  fs.rmSync(path.join(objects, 'large.yaml'));
  await untilObjects(1);
  const answer = ask(outside, 'tcp', node, hostPort, { timeout: silence, from: worldAddresses.beyond.ipv4 });
  await assert.rejects(answer, UnreachableError);
});
