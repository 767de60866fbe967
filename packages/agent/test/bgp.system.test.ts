/** Two machines on segments of their own, without tunnels: only the router between them, told by BGP, knows where pods are. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually, startAgent } from '@podwire/testkit';
import {
  agentEntry,
  assertReaches,
  createFixture,
  type Machine,
  type Fixture,
  startTimeout,
  toMachine,
} from './fakes/cluster-fixture.js';
import { askApi } from './fakes/plugin-client.js';

const routers = [0, 1].map((segment) => ({ ipv4: `10.99.${segment}.1`, ipv6: `fd00:99:${segment}::1` }));
const nodes = [0, 1].map((segment) => ({
  ipv4: `10.99.${segment}.${10 + segment}`,
  ipv6: `fd00:99:${segment}::${(16 + segment).toString(16)}`,
}));

const session = (family: 4 | 6, index: number): string => {
  const [router, node] = [routers[index]!, nodes[index]!];
  const [from, to] = family === 4 ? [router.ipv4, node.ipv4] : [router.ipv6, node.ipv6];
  const password = family === 4 ? 'password "between us";' : '';
  return `protocol bgp n${index + 1}v${family} { local ${from} as 64500; neighbor ${to} as ${64_512 + index}; direct; ${password}
    ipv${family} { import all; export all; next hop self; }; }`;
};

const routerConfig = `
router id 10.99.0.1;
protocol device {}
protocol kernel { ipv4 { import none; export all; }; }
protocol kernel { ipv6 { import none; export all; }; }
${[0, 1].flatMap((index) => [session(4, index), session(6, index)]).join('\n')}
`;

interface Session {
  readonly state: string;
  readonly since: string;
}

/** None began anew, which takes a second. BIRD works the time out again for each answer, and it may be a millisecond off. */
function assertSameSessions(now: readonly Session[], before: readonly Session[]): void {
  const timeless = (all: readonly Session[]) => all.map((each) => ({ ...each, since: '' }));
  assert.deepEqual(timeless(now), timeless(before));
  for (const [index, { since }] of now.entries()) {
    const [one, other] = [since, before[index]!.since].map((time) => Date.parse(`1970-01-01T${time}Z`));
    assert.ok(Math.abs(one! - other!) <= 100, `${since} was ${before[index]!.since}`);
  }
}

describe('routers that are told by BGP', () => {
  let fixture: Fixture;
  let machines: Machine[];

  before(async () => {
    fixture = await createFixture({
      name: 'bgp',
      pools: [
        { name: 'v4', cidr: '10.244.0.0/16', natOutgoing: false },
        { name: 'v6', cidr: 'fd00:244::/108', natOutgoing: false },
      ],
      agents: 0,
      hosts: 2,
      segmentOf: (index) => index,
    });
    const [directory] = fixture.hosts.hosts.map((host) => host.directory);
    const file = path.join(directory!, 'router.conf');
    fs.writeFileSync(file, routerConfig);
    const router = fixture.hosts.middle.start([
      '/usr/sbin/bird',
      '-f',
      '-c',
      file,
      '-s',
      path.join(directory!, 'router.ctl'),
    ]);
    fixture.hosts.hosts[0]!.defer(() => router.stop());
    machines = await Promise.all(fixture.hosts.hosts.map((host, index) => startMachine(host, index)));
  });
  after(() => fixture?.close());

  async function startMachine(host: Fixture['hosts']['hosts'][number], index: number): Promise<Machine> {
    const name = `n${index + 1}`;
    const passwordFile = path.join(host.directory, 'password');
    fs.writeFileSync(passwordFile, 'between us\n', { mode: 0o600 });
    const { ipv4, ipv6 } = routers[index]!;
    const base = fixture.configOf(name);
    const bgp = {
      asn: 64_512 + index,
      routers: [
        { address: ipv4, asn: 64_500, passwordFile },
        { address: ipv6, asn: 64_500 },
      ],
    };
    const config = { ...base, cluster: { ...(base['cluster'] as object), bgp } };
    return toMachine(
      name,
      host,
      await startAgent(host, { entry: agentEntry, config, timeout: startTimeout }),
    );
  }

  const sessions = async ({ agent }: Machine) =>
    (await askApi(agent.apiSocket, '/v1/bgp'))['sessions'] as Session[];
  const areUp = async (machine: Machine): Promise<boolean> =>
    (await sessions(machine).catch(() => [{ state: 'none' }])).every(({ state }) => state === 'Established');
  /** Through the router of the segment, by BIRD's own routes. */
  const learned = async (machine: Machine): Promise<string[]> => {
    const both = ['-4', '-6'].map((family) =>
      machine.host.run(['ip', '-json', family, 'route', 'show', 'proto', 'bird']),
    );
    return (await Promise.all(both)).flatMap((text) =>
      (JSON.parse(text) as { dst: string }[]).map(({ dst }) => dst),
    );
  };

  test('pods of both segments reach each other', async () => {
    for (const machine of machines) await eventually(`${machine.name} speaks BGP`, () => areUp(machine));
    const [one, two] = machines as [Machine, Machine];
    const [here, there] = [await one.add(), await two.add()];
    for (const machine of machines) {
      await eventually(
        `${machine.name} has learned two blocks`,
        async () => (await learned(machine)).length === 2,
      );
    }
    await assertReaches(here.namespace, there);
    await assertReaches(there.namespace, here);
    await assertReaches(two.host.namespace, here);
    const before = await sessions(one);
    const { holdings } = (await one.status()).cluster;
    const routesOfTwo = await learned(two);
    assert.deepEqual(routesOfTwo.toSorted(), holdings.map(({ cidr }) => cidr).toSorted());
    assertSameSessions(await sessions(one), before);
    await one.del(here);
    await two.del(there);
  });

  test('the agent ends: its daemon ends, routes stay; it comes back and takes up where it was', async () => {
    const [one, two] = machines as [Machine, Machine];
    const pod = await one.add();
    const routes = await learned(one);
    await one.agent.stop();
    assert.deepEqual(await learned(one), routes);
    await one.agent.start();
    await eventually('n1 speaks again', () => areUp(one));
    await eventually('n2 knows the way', async () => (await learned(two)).length === 2);
    await assertReaches(two.host.namespace, pod);
    await one.del(pod);
  });

  test('secrets are in no log', () => {
    for (const { agent } of machines) assert.doesNotMatch(agent.log(), /between us/);
  });
});
