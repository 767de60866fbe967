/** Calico's host endpoints with packets: a node with an uplink to a world, and a pod behind a port of the node. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  assertBlocked,
  createPrivateHost,
  eventually,
  pings,
  type PrivateHost,
  type Protocol,
  reaches,
  serveEcho,
  startAgent,
  startPing,
  type TestNamespace,
  worldAddresses,
} from '@podwire/testkit';
import type { HostPolicyView } from '../src/index.js';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const [port, hostPort] = [7, 8080];
/** Milliseconds after which a packet that arrives and is not answered has no answer. */
const silence = 250;
const node = worldAddresses.host.ipv4;
const there = worldAddresses.world.ipv4;

let host: PrivateHost;
let world: TestNamespace;
let agent: Agent;
let objects: string;
let nodeName: string;
let pod: { readonly namespace: TestNamespace; readonly address: string };
let chainsBefore: string;

before(async () => {
  host = await createPrivateHost({ name: 'polhost', world: { mtu: 1400 } });
  world = host.world!;
  objects = path.join(host.directory, 'objects');
  fs.mkdirSync(objects);
  agent = await startAgent(host, { config: { coolDown: '0s', objects: { directory: objects } } });
  ({ node: nodeName } = (await askApi(agent.apiSocket, '/v1/status')) as { node: string });
  pod = await addPod();
  for (const one of [port, 22]) await serveEcho(host.namespace, 'tcp', '0.0.0.0', one);
  await serveEcho(host.namespace, 'udp', '0.0.0.0', port);
  for (const one of [port, 2379]) await serveEcho(world, 'tcp', '0.0.0.0', one);
  await serveEcho(pod.namespace, 'tcp', '0.0.0.0', port);
  chainsBefore = await listChains();
});
after(async () => host.close());

async function addPod(): Promise<typeof pod> {
  const namespace = host.addPod();
  const answer = await callPlugin(agent.socket, {
    ...{ command: 'ADD', id: namespace.name, netns: namespace.path },
    args: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web',
    config: {
      args: { cni: { labels: [] } },
      capabilities: { portMappings: true },
      runtimeConfig: { portMappings: [{ hostPort, containerPort: port, protocol: 'tcp' }] },
    },
  });
  assert.ok(answer?.ok, JSON.stringify(answer?.json));
  const [first] = answer.json['ips'] as { address: string }[];
  return { namespace, address: first!.address.split('/')[0]! };
}

/** Names of chains with their hooks; no rules, since the pod's own may stand there. */
const listChains = (): Promise<string> => host.namespace.run(['nft', '-t', 'list', 'chains', 'inet']);

interface State {
  readonly revision: number;
  readonly inForce: boolean;
  readonly counts: { readonly objects: number };
  readonly problems: readonly { readonly object: string; readonly message: string }[];
}
const stateOf = async (): Promise<State> => (await askApi(agent.apiSocket, '/v1/policy')) as unknown as State;

/** All objects there are from now on. */
async function apply(...texts: string[]): Promise<void> {
  const before = await stateOf();
  const next = `${objects}-next`;
  fs.writeFileSync(next, texts.join('---\n'));
  fs.renameSync(next, path.join(objects, 'all.yaml'));
  const wanted = texts.map((text) => /name: (\S+?) /.exec(text)?.[1]).join(' ');
  await eventually(`${wanted} are in force`, async () => {
    const { inForce, revision, counts, problems } = await stateOf();
    return (
      (inForce && revision !== before.revision && counts.objects === texts.length) ||
      `${counts.objects} objects, ${JSON.stringify(problems)}`
    );
  });
}

const endpoint = (spec: string): string => `apiVersion: projectcalico.org/v3
kind: HostEndpoint
metadata: { name: uplink , labels: { role: edge } }
spec: { node: ${nodeName}, ${spec} }
`;
const uplink = (): string => endpoint('interfaceName: eth0');

const policy = (name: string, spec: string): string => `apiVersion: projectcalico.org/v3
kind: GlobalNetworkPolicy
metadata: { name: ${name} }
spec: { selector: "role == 'edge'", ${spec} }
`;
const allow = (protocol: string, one: number): string =>
  `{ action: Allow, protocol: ${protocol}, destination: { ports: [${one}] } }`;
const deny = (protocol: string, one: number): string =>
  `{ action: Deny, protocol: ${protocol}, destination: { ports: [${one}] } }`;

/** Sends again until an answer comes. */
const assertAnswered = async (
  from: TestNamespace,
  address: string,
  to = port,
  protocol: Protocol = 'tcp',
): Promise<void> => assert.ok(await reaches(from, protocol, address, to), `${protocol} to ${address}:${to}`);

type Blocked = NonNullable<Parameters<typeof assertBlocked>[4]>;

/** Policy may close the uplink to pings, but not to its failsafe ports: connections to those are the markers. */
const inbound: Blocked = { sendMarker: () => assertAnswered(world, node, 22) };
const outbound: Blocked = { sendMarker: () => assertAnswered(host.namespace, there, 2379) };

const assertNotIn = (attempt: Blocked): Promise<void> =>
  assertBlocked(world, host.namespace, node, [], { port, ...inbound, ...attempt });
const assertNotOut = (): Promise<void> =>
  assertBlocked(host.namespace, world, there, [], { protocol: 'tcp', port, ...outbound });
const assertNotToPod = (): Promise<void> =>
  assertBlocked(world, pod.namespace, node, [], {
    ...{ protocol: 'tcp', port: hostPort, arrival: { address: pod.address, port } },
    sendMarker: async () => {
      await assertAnswered(world, node, 22);
      assert.ok(await pings(host.namespace, pod.address), 'a marker from the node');
    },
  });

/** Checks the connections that pass, and that no packet of the others arrives. */
async function assertLook(expected: typeof all): Promise<void> {
  await (expected.in ? assertAnswered(world, node) : assertNotIn({ protocol: 'tcp' }));
  await assertAnswered(world, node, 22);
  await (expected.out ? assertAnswered(host.namespace, there) : assertNotOut());
  await assertAnswered(host.namespace, there, 2379);
  await (expected['to the pod'] ? assertAnswered(world, node, hostPort) : assertNotToPod());
  await assertAnswered(pod.namespace, there);
  await assertAnswered(host.namespace, pod.address);
  await assertAnswered(pod.namespace, node);
}
/** Failsafe ports, packets from the pod, and packets between pod and node pass in every state. */
const all = { in: true, out: true, 'to the pod': true };
const closed = { ...all, in: false, out: false };

test('without host endpoints everything passes', async () => {
  await assertLook(all);
});

test('one without policy closes its link, but for failsafe ports and what passes through', async () => {
  await apply(uplink());
  await assertLook(closed);
});

test('connections that there are go on', async () => {
  await apply();
  const ping = startPing(world, node);
  await ping.waitForAnswers(2);
  await apply(uplink());
  await ping.waitForAnswers(5);
  assert.deepEqual((await ping.stop()).lost, []);
  // A new one is denied.
  await assertNotIn({ protocol: 'icmp', source: there });
});

test('one that only has an address means the link that has it', async () => {
  await apply(endpoint(`expectedIPs: [${node}]`));
  await assertLook(closed);
  await apply(endpoint('expectedIPs: [203.0.113.9]'));
  await assertLook(all);
  assert.match((await stateOf()).problems[0]?.message ?? '', /no link of this node has .*203\.0\.113\.9/);
});

test('one for all links closes the uplink', async () => {
  await apply(endpoint("interfaceName: '*'"));
  await assertLook(closed);
});

test('normal policy opens ports, in its directions', async () => {
  await apply(uplink(), policy('web', `types: [Ingress], ingress: [${allow('TCP', port)}]`));
  await assertLook({ ...closed, in: true });
  await apply(uplink(), policy('web', `types: [Egress], egress: [${allow('TCP', port)}]`));
  await assertLook({ ...closed, out: true });
});

test('explain says the same, with the rule', async () => {
  await apply(uplink(), policy('web', `types: [Ingress], ingress: [${allow('TCP', port)}]`));
  const explain = async (from: string, to: string, one: number): Promise<unknown[]> => {
    const asked = { from, to, protocol: 'tcp', port: one };
    const { connections } = (await askApi(agent.apiSocket, '/v1/policy/explain', asked)) as unknown as {
      connections: readonly { verdict: string; reason: string; object?: string; path?: string }[];
    };
    return connections.map(({ verdict, reason, object, path: rule }) => [verdict, reason, object, rule]);
  };
  const object = 'GlobalNetworkPolicy web';
  assert.deepEqual(await explain(there, node, port), [['allow', 'rule', object, 'spec.ingress[0]']]);
  assert.deepEqual(await explain(there, node, 81), [['deny', 'end-of-tier', object, undefined]]);
  assert.deepEqual(await explain(there, node, 22), [['allow', 'failsafe', undefined, undefined]]);
  assert.deepEqual(await explain(node, there, port), [['deny', 'default', undefined, undefined]]);
  assert.deepEqual(await explain(pod.address, node, port), [['allow', 'default', undefined, undefined]]);
});

test('policy show lists what selects it, and who has its link', async () => {
  const second = uplink().replace('uplink', 'uplink-b');
  await apply(uplink(), second, policy('web', `types: [Ingress], ingress: [${allow('TCP', port)}]`));
  const show = (name: string): Promise<unknown> => askApi(agent.apiSocket, `/v1/policy/hosts/${name}`);
  const view = (await show('uplink')) as HostPolicyView;
  assert.deepEqual([view.link, view.supersededBy, view.egress.tiers], ['eth0', null, []]);
  assert.equal(view.egress.end, 'deny');
  const [selecting] = view.ingress.tiers[0]!.policies;
  assert.deepEqual([selecting?.object, selecting?.rules[0]?.action], ['GlobalNetworkPolicy web', 'allow']);
  assert.equal(((await show('uplink-b')) as HostPolicyView).supersededBy, 'uplink');
  assert.match(JSON.stringify(await show('elsewhere')), /has no host endpoint elsewhere/);
});

test('a profile is what decides in the end', async () => {
  const profile = `apiVersion: projectcalico.org/v3
kind: Profile
metadata: { name: open }
spec: { ingress: [{ action: Allow }], egress: [{ action: Allow }] }
`;
  await apply(endpoint('interfaceName: eth0, profiles: [open]'), profile);
  await assertLook(all);
  // Calico builds it in: those of its own making have it.
  await apply(endpoint("interfaceName: '*', profiles: [projectcalico-default-allow]"));
  await assertLook(all);
  await apply(endpoint("interfaceName: '*', profiles: [elsewhere]"));
  await assertLook(closed);
});

test('applyOnForward decides on what passes through', async () => {
  const rules = 'types: [Ingress], applyOnForward: true';
  await apply(uplink(), policy('transit', `${rules}, ingress: [${deny('TCP', port)}, { action: Allow }]`));
  await assertLook({ ...closed, 'to the pod': false });
  await apply(uplink(), policy('transit', `${rules}, ingress: [${allow('TCP', port)}]`));
  await assertLook({ ...closed, in: true });
});

test('preDNAT decides on a port of the node before it is that of a pod', async () => {
  const rules = 'types: [Ingress], preDNAT: true, applyOnForward: true';
  await apply(uplink(), policy('first', `${rules}, ingress: [${deny('TCP', hostPort)}]`));
  await assertLook({ ...closed, 'to the pod': false });
  await apply(
    uplink(),
    policy('first', `${rules}, ingress: [${allow('TCP', hostPort)}, ${allow('TCP', port)}]`),
    policy('transit', `types: [Ingress], applyOnForward: true, ingress: []`),
  );
  // A packet that preDNAT allows is not asked about again.
  await assertLook({ ...closed, in: true });
});

/** Lines of the kernel's table of connections to the port. */
async function trackedOverUdp(): Promise<string[]> {
  const table = await host.namespace.run(['cat', '/proc/net/nf_conntrack']);
  return table.split('\n').filter((line) => / udp .* dport=7 /.test(line));
}

test('doNotTrack allows without an entry of connection tracking', async () => {
  await assertNotIn({ protocol: 'udp' });
  const rules = 'doNotTrack: true, applyOnForward: true';
  const answer = `{ action: Allow, protocol: UDP, source: { ports: [${port}] } }`;
  await apply(uplink(), policy('raw', `${rules}, ingress: [${allow('UDP', port)}], egress: [${answer}]`));
  await assertAnswered(world, node, port, 'udp');
  assert.deepEqual(await trackedOverUdp(), []);
  await apply(uplink(), policy('raw', `${rules}, ingress: [${allow('UDP', port)}], egress: []`));
  // Its answer belongs to no connection. The request arrives, so only silence can show that the answer does not.
  assert.ok(!(await reaches(world, 'udp', node, port, { timeout: silence })));
  await apply(uplink(), policy('tracked', `types: [Ingress], ingress: [${allow('UDP', port)}]`));
  await assertAnswered(world, node, port, 'udp');
  assert.equal((await trackedOverUdp()).length, 1);
});

test('what others take out of tracking is not allowed by that', async () => {
  const table = `table inet other {
    chain in { type filter hook prerouting priority -300; udp dport ${port} notrack; }
    chain out { type filter hook output priority -300; udp sport ${port} notrack; }
  }`;
  await host.namespace.run(['nft', table]);
  const rules = 'doNotTrack: true, applyOnForward: true';
  await apply(
    uplink(),
    policy('raw', `${rules}, ingress: [${allow('UDP', 9)}], egress: [${allow('UDP', 9)}]`),
  );
  await assertNotIn({ protocol: 'udp' });
  await apply(
    uplink(),
    policy('open', 'types: [Ingress, Egress], ingress: [{ action: Allow }], egress: [{ action: Allow }]'),
  );
  // It is policy that has closed it.
  await assertAnswered(world, node, port, 'udp');
  await host.namespace.run(['nft', 'delete', 'table', 'inet', 'other']);
});

test('the rules stand while the agent is dead', async () => {
  await apply(uplink());
  await agent.kill9();
  await assertLook(closed);
  await agent.start();
  await assertLook(closed);
});

test('without host endpoints nothing of it is left', async () => {
  await apply();
  await assertLook(all);
  assert.equal(await listChains(), chainsBefore);
});
