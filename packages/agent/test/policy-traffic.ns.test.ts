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
  assertBlocked,
  createPrivateHost,
  eventually,
  pings,
  type PrivateHost,
  reaches,
  serveEcho,
  startAgent,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const port = 7;
const hostPort = 8080;
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
  readonly revision: number;
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

/** Writes an object in place of another one, and waits until it is in force. */
async function replace(name: string, text: string): Promise<void> {
  const before = await stateOf();
  // In one step: the agent must not see the file before its text.
  fs.writeFileSync(`${objects}-next`, text);
  fs.renameSync(`${objects}-next`, path.join(objects, `${name}.yaml`));
  await eventually(`${name} is in force`, async () => {
    const { inForce, revision } = await stateOf();
    return inForce && revision !== before.revision;
  });
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

const node = worldAddresses.host.ipv4;
type Blocked = NonNullable<Parameters<typeof assertBlocked>[4]>;

/** No packet gets to the pod's port, by default over TCP. Markers go through the node, which policy lets reach its pods. */
const assertDenied = (from: TestNamespace, to: Pod, attempt: Blocked = {}): Promise<void> =>
  assertBlocked(from, to.namespace, to.address, [{ namespace: host.namespace, address: node }], {
    ...{ protocol: 'tcp', port },
    ...attempt,
  });

/** The same for an address that is translated to the database's. */
const assertTranslatedDenied = (
  from: TestNamespace,
  address: string,
  to: number,
  attempt: Blocked = {},
): Promise<void> =>
  assertBlocked(from, db.namespace, address, [{ namespace: host.namespace, address: node }], {
    ...{ protocol: 'tcp', port: to, arrival: { address: db.address, port } },
    ...attempt,
  });

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
  await assertDenied(other.namespace, db);
});

test('what was dropped is counted, by policy or tier', async () => {
  const since = await countDropped();
  await assertDenied(other.namespace, db, { protocol: 'udp' });
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
  // No rule lets it in.
  await assertTranslatedDenied(outside, node, hostPort);
  assert.ok(await passes(client.namespace, node, hostPort), 'a pod through the port of its node');
  await assertTranslatedDenied(other.namespace, node, hostPort);
  // Back to itself: its own policy, too.
  await assertTranslatedDenied(db.namespace, node, hostPort);
  write('outside', policy('outside', 'db', `{ ipBlock: { cidr: ${worldAddresses.world.ipv4}/32 } }`));
  await untilObjects(2);
  assert.ok(await passes(outside, node, hostPort));
  const { peer } = await ask(outside, 'tcp', node, hostPort);
  assert.equal(peer.address, worldAddresses.world.ipv4, 'the pod sees the client');
  await replace(
    'outside',
    policy('outside', 'db', `{ ipBlock: { cidr: ${worldAddresses.beyond.ipv4}/32 } }`),
  );
  await assertTranslatedDenied(outside, node, hostPort);
  const from = worldAddresses.beyond.ipv4;
  assert.ok(await reaches(outside, 'tcp', node, hostPort, { from }));
  fs.rmSync(path.join(objects, 'outside.yaml'));
  await untilObjects(1);
});

/** Of a service. */
const serviceAddress = '10.96.0.10';

test('a service is decided behind its translation, in both modes of kube-proxy', async () => {
  const target = `${db.address}:${port}`;
  const assertDecided = async (mode: string): Promise<void> => {
    assert.ok(await passes(client.namespace, serviceAddress, 80), mode);
    await assertTranslatedDenied(other.namespace, serviceAddress, 80);
  };
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
  await assertDecided('iptables');
  await host.run(['iptables', '-t', 'nat', '-D', 'PREROUTING', ...rule]);
  const table = `table ip kube-proxy {
    chain services {
      type nat hook prerouting priority dstnat; policy accept;
      ip daddr ${serviceAddress} tcp dport 80 dnat to ${target}
    }
  }`;
  await host.run(['nft', '-f', '-'], { input: table });
  await assertDecided('nftables');
  await host.run(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
});

/** A datagram to the database from a port that stays the same, as a connection of the owner before has used it. */
async function asksFrom(pod: Pod, to: Pod): Promise<void> {
  await fromSamePort(pod, async (socket) => {
    const answer = once(socket, 'message', { signal: AbortSignal.timeout(generous) });
    socket.send('x', port, to.address, () => undefined);
    await answer;
  });
}

/** No such datagram gets to the database. */
async function assertHeirDenied(pod: Pod, to: Pod): Promise<void> {
  await fromSamePort(pod, async (socket) => {
    const send = (): Promise<void> =>
      new Promise((resolve) => socket.send('x', port, to.address, () => resolve()));
    await assertDenied(pod.namespace, to, { protocol: 'udp', source: pod.address, send });
  });
}

async function fromSamePort(pod: Pod, work: (socket: dgram.Socket) => Promise<void>): Promise<void> {
  const namespace = openNamespace(pod.namespace.path);
  const fd = inNamespace(namespace, () => openDatagramSocket(4));
  bindAddress(fd, addressToBytes(parseAddress(pod.address)), samePort);
  const socket = dgram.createSocket('udp4').on('error', () => undefined);
  try {
    await new Promise<void>((resolve) => socket.bind({ fd }, () => resolve()));
    await work(socket);
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
  const assertSctp = async (from: Pod, isAllowed: boolean): Promise<void> =>
    isAllowed
      ? assert.ok(await reaches(from.namespace, 'sctp', target.address, port), `SCTP of ${from.name}`)
      : assertDenied(from.namespace, target, { protocol: 'sctp' });
  const assertPing = async (from: Pod, isAllowed: boolean): Promise<void> =>
    isAllowed
      ? assert.ok(await pings(from.namespace, target.address), `a ping of ${from.name}`)
      : assertDenied(from.namespace, target, { protocol: 'icmp', source: from.address });
  /** The client may do one of the two or neither, the other pod neither. */
  const assertOnly = async (allowed?: 'sctp' | 'icmp'): Promise<void> => {
    await assertSctp(client, allowed === 'sctp');
    await assertSctp(other, false);
    await assertPing(client, allowed === 'icmp');
    await assertPing(other, false);
  };
  await replace('protocols', rules(''));
  await assertOnly();
  await replace(
    'protocols',
    rules(`{ action: Allow, protocol: SCTP, destination: { ports: [${port}] }, ${fromClient} }`),
  );
  await assertOnly('sctp');
  await replace(
    'protocols',
    rules(`{ action: Allow, protocol: ICMP, icmp: { type: 8, code: 0 }, ${fromClient} }`),
  );
  await assertOnly('icmp');
  await replace('protocols', rules(`{ action: Allow, protocol: ICMP, icmp: { type: 13 }, ${fromClient} }`));
  await assertOnly();
  fs.rmSync(path.join(objects, 'protocols.yaml'));
  await untilObjects(1);
  await remove(target);
});

test('an address that goes to a new owner takes no connection along, not even where the agent was dead', async () => {
  await serveEcho(db.namespace, 'udp', '0.0.0.0', port);
  const former = await add('former', { role: 'client' });
  await asksFrom(former, db);
  await remove(former);
  const heir = await add('heir', { role: 'other' }, { ip: former.address });
  assert.equal(heir.address, former.address);
  await assertHeirDenied(heir, db);
  await remove(heir);

  const last = await add('last', { role: 'client' }, { ip: former.address });
  await asksFrom(last, db);
  await agent.kill9();
  // The pod goes while nothing can hear of it: its namespace, and its link with it.
  last.namespace.delete();
  await agent.start();
  await remove(last);
  const next = await add('next', { role: 'other' }, { ip: former.address });
  assert.equal(next.address, former.address);
  await assertHeirDenied(next, db);
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
  // Policy that was in force stays.
  await assertDenied(other.namespace, db);
  assert.ok(await passes(client.namespace, db.address));
  const web = await add('web', { app: 'web' });
  await serveEcho(web.namespace, 'tcp', '0.0.0.0', port);
  // A good one in another file.
  await assertDenied(other.namespace, web);
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
  await assertTranslatedDenied(outside, node, hostPort);
  fs.rmSync(path.join(objects, 'large.yaml'));
  await untilObjects(1);
  await assertTranslatedDenied(outside, node, hostPort, { source: worldAddresses.beyond.ipv4 });
});
