/** Changes by others are repaired at once: the real agent, the real kernel, iproute2 and nft as the others. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Agent,
  createPrivateHost,
  defaultAgentEntry,
  eventually,
  type PrivateHost,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
} from '@podwire/testkit';
import { askApi, callPlugin } from './fakes/plugin-client.js';

interface Drift {
  readonly watching: boolean;
  readonly pods: boolean;
  readonly repaired: number;
  readonly failed: number;
  readonly checks: number;
  readonly last: readonly { owner: string; what: string; action: string; by?: string }[];
}

const rate = 100_000_000;
const configWith = (hostPort: number) => ({
  runtimeConfig: {
    portMappings: [{ hostPort, containerPort: 80, protocol: 'tcp' }],
    bandwidth: { ingressRate: rate, ingressBurst: rate, egressRate: rate, egressBurst: rate },
  },
});

interface Victim {
  readonly pod: TestNamespace;
  /** Of the node. */
  readonly link: string;
  readonly address: string;
  readonly hostPort: number;
}

let host: PrivateHost;
let agent: Agent;

async function ask(
  command: string,
  pod: TestNamespace,
  asked: object = {},
): Promise<Record<string, unknown>> {
  const answer = await callPlugin(agent.socket, {
    ...{ command, id: pod.name, netns: pod.path, config: { ...asked } },
  });
  assert.ok(answer?.ok, JSON.stringify(answer));
  return answer.json;
}
const readDrift = async (): Promise<Drift> => (await askApi(agent.apiSocket, '/v1/status'))['drift'] as Drift;

/** Each case has its own: what is changed again and again is looked at less often. */
async function addVictim(): Promise<Victim> {
  const pod = host.addPod();
  const hostPort = 8_000 + host.pods.length;
  const { interfaces, ips } = (await ask('ADD', pod, configWith(hostPort))) as {
    interfaces: { name: string; sandbox?: string }[];
    ips: { address: string }[];
  };
  const link = interfaces.find(({ sandbox }) => sandbox === undefined)!.name;
  return { pod, link, address: ips[0]!.address.split('/')[0]!, hostPort };
}

/** The seal has the numbers that the kernel gave the parts of the table. */
const ignore = [/structure_seal/];

async function takeBoth({ pod }: Victim) {
  const [node, inside] = [await takeSnapshot(host.namespace), await takeSnapshot(pod)];
  return {
    untilSame: async (): Promise<void> => {
      await untilSameSnapshot(node, () => takeSnapshot(host.namespace), { timeout: 20_000, ignore });
      await untilSameSnapshot(inside, () => takeSnapshot(pod), { timeout: 20_000, ignore });
    },
  };
}

before(async () => {
  host = await createPrivateHost({ name: 'drift', world: true });
  // No round comes to help.
  agent = await startAgent(host, { config: { reconcileInterval: '24h', coolDown: '0s' } });
});
after(() => host?.close());

/** Events come in order: when this one is seen, all others have been read. */
async function disturb({ address }: Victim): Promise<Drift> {
  const { repaired } = await readDrift();
  await host.namespace.ip(`route del ${address}`);
  await eventually('it is repaired', async () => (await readDrift()).repaired > repaired, {
    timeout: 20_000,
  });
  return readDrift();
}

test('what the agent does itself is no reason to look', async () => {
  const witness = await addVictim();
  const pods = Array.from({ length: 20 }, () => host.addPod());
  await Promise.all(
    pods.map(async (pod) => {
      for (const command of ['ADD', 'DEL', 'ADD']) await ask(command, pod);
    }),
  );
  await askApi(agent.apiSocket, '/v1/reconcile', {});
  await Promise.all(pods.map((pod) => ask('DEL', pod)));
  for (const pod of pods) host.removePod(pod);
  assert.equal((await disturb(witness)).checks, 1);
});

describe('is repaired at once', () => {
  const onNode = (command: (victim: Victim) => string) => (victim: Victim) =>
    host.namespace.ip(command(victim));
  const inPod = (command: string) => (victim: Victim) => victim.pod.ip(command);
  const run = (argv: (victim: Victim) => readonly string[]) => (victim: Victim) => host.run(argv(victim));
  const nft = /^nft \(process \d+\)$/;
  const cases: readonly [what: string, change: (victim: Victim) => Promise<unknown>, by?: RegExp][] = [
    ['a route that was deleted', onNode(({ address }) => `route del ${address}`)],
    ['a route that leads elsewhere', onNode(({ address }) => `route replace ${address}/32 dev lo`)],
    ['the route of a block', onNode(() => 'route del blackhole 10.244.0.0/26')],
    ['a link that is down', onNode(({ link }) => `link set ${link} down`)],
    ['a link with another MTU', onNode(({ link }) => `link set ${link} mtu 1300`)],
    ['a link with another MAC', onNode(({ link }) => `link set ${link} address 02:00:00:00:00:01`)],
    ['a link that is deleted, with all on it and in the pod', onNode(({ link }) => `link del ${link}`)],
    ['a rate', run(({ link }) => ['tc', 'qdisc', 'del', 'dev', link, 'root'])],
    ['a filter', run(({ link }) => ['tc', 'qdisc', 'del', 'dev', link, 'ingress'])],
    ['forwarding', run(() => ['sysctl', '-qw', 'net.ipv4.ip_forward=0'])],
    ['the table of nftables', run(() => ['nft', 'delete', 'table', 'inet', 'podwire']), nft],
    ['all of nftables', run(() => ['nft', 'flush', 'ruleset']), nft],
    ['an element', deleteElement, nft],
    ['the address in a pod', ({ pod, address }) => pod.ip(`address del ${address}/32 dev eth0`)],
    ['the routes in a pod', inPod('route flush dev eth0')],
    ['a neighbour in a pod', inPod('neighbour del 169.254.1.1 dev eth0')],
    ['the link in a pod that is down', inPod('link set eth0 down')],
  ];
  for (const [what, change, by] of cases)
    test(what, async () => {
      const victim = await addVictim();
      const intact = await takeBoth(victim);
      const { repaired } = await readDrift();
      await change(victim);
      await intact.untilSame();
      await eventually('it is counted', async () => (await readDrift()).repaired > repaired);
      const { last, failed } = await readDrift();
      assert.equal(failed, 0);
      const names = new Set([`test/${victim.pod.name}`, 'node', 'policy']);
      assert.ok(
        last.slice(0, 3).some(({ owner }) => names.has(owner)),
        JSON.stringify(last),
      );
      if (by !== undefined) assert.match(last[0]!.by ?? '', by);
      const explained = await askApi(agent.apiSocket, `/v1/explain/${victim.pod.name}`);
      const states = (explained['resources'] as { state: string }[]).map(({ state }) => state);
      assert.deepEqual(new Set(states), new Set(['ok']));
    });
});

test('what is not Podwire’s is nothing to it', async () => {
  const witness = await addVictim();
  const { checks } = await readDrift();
  for (const command of [
    ...['link add va type veth peer name vb', 'link set va up', 'address add 203.0.113.1/24 dev va'],
    ...['route add 203.0.114.0/24 dev va', 'route replace 203.0.114.0/24 dev lo', 'route del 203.0.114.0/24'],
    ...['address del 203.0.113.1/24 dev va', 'link set va down', 'link del va'],
  ])
    await host.namespace.ip(command);
  await host.run(['nft', 'add table ip mine; delete table ip mine']);
  assert.equal((await disturb(witness)).checks, checks + 1);
});

test('is logged with the name of the pod', async () => {
  const witness = await addVictim();
  await disturb(witness);
  const line = new RegExp(`"of":"test/${witness.pod.name}","what":"route [^"]*","action":"repaired"`);
  assert.match(agent.log(), line);
});

test('what is changed again and again is looked at less often, which is said once', async () => {
  const witness = await addVictim();
  const said = (): string[] =>
    agent
      .log()
      .split('\n')
      .filter((line) => line.includes('again and again') && line.includes(`"of":"test/${witness.pod.name}"`));
  // On a busy machine one comes so late that it is a new story.
  for (let count = 0; count < 40 && said().length === 0; count++) await disturb(witness);
  await disturb(witness);
  assert.equal(said().length, 1);
});

test('a pod that changes routes all the time does not hold up the repair of the packet filter', async () => {
  const { pod } = await addVictim();
  const file = path.join(host.directory, 'flood');
  // Each differs from the one before it: the kernel has no event for what stays the same.
  const routes = Array.from(
    { length: 20_000 },
    (_, n) => `route replace 198.51.${(n >> 1) & 127}.0/24 dev eth0 mtu ${1300 + (n & 1)}`,
  );
  fs.writeFileSync(file, `${routes.join('\n')}\n`);
  const loop = ['sh', '-c', `while :; do ip -batch ${file}; done`];
  const flood = pod.start(loop);
  try {
    await eventually('routes change', async () =>
      (await pod.run(['ip', 'route'])).includes('198.51.127.0/24'),
    );
    await host.run(['nft', 'delete', 'table', 'inet', 'podwire']);
    const isBack = async (): Promise<boolean> =>
      (await host.run(['nft', 'list', 'tables'])).includes('table inet podwire\n');
    await eventually('the table is back', isBack, { timeout: 5_000 });
  } finally {
    await flood.stop();
  }
});

test('where changes in pods cannot be heard, status and log say so', async () => {
  const other = await createPrivateHost({ name: 'deaf' });
  try {
    const without = ['setpriv', '--inh-caps=-net_broadcast', '--bounding-set=-net_broadcast'];
    const deaf = await startAgent(other, { entry: [...without, ...defaultAgentEntry] });
    const { drift } = (await askApi(deaf.apiSocket, '/v1/status')) as { drift: Drift };
    assert.deepEqual([drift.watching, drift.pods], [true, false]);
    assert.match(deaf.log(), /"place":"pod","msg":"changes cannot be listened to/);
    assert.equal((await readDrift()).pods, true);
  } finally {
    await other.close();
  }
});

/** Of the map that leads from the host port to the pod. */
async function deleteElement({ hostPort }: Victim): Promise<void> {
  const ruleset = await host.run(['nft', 'list', 'table', 'inet', 'podwire']);
  const elements = new RegExp(`\\tmap (\\S+) \\{[^}]*?elements = \\{[^}]*?(tcp \\. ${hostPort}) :`);
  const [, map, element] = elements.exec(ruleset) ?? [];
  assert.ok(map !== undefined && element !== undefined, ruleset);
  await host.run(['nft', 'delete', 'element', 'inet', 'podwire', map, `{ ${element} }`]);
}
