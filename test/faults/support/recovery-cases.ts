/**
 * `kill -9` of the agent while it recovers from everything that a node can have gone through: an interrupted ADD, an interrupted
 * DEL, a pod that vanished, a torn record, things that drifted, things that have no owner. Whenever it dies, the next start finishes.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Snapshot, type TestNamespace, untilSameSnapshot } from '@podwire/testkit';
import { type CniCall, networkName } from './calls.js';
import { createFaultHost, type FaultHost, inCase, leasesOf, recordFile, untilDead } from './fault-host.js';
import { assertPoolWhole, describeOccurrence, type Subject } from './matrix.js';
import { pickSteps } from './steps.js';
import { addPod, bystanderCall, createFullSubject } from './subjects.js';

/** "PW" and one: the group of Podwire's links (packages/engine/src/marks.ts). */
const liveGroup = 0x5057_0001;

/** A table that is made anew gets other handles, and its seal is over these; the agent itself says whether it holds. */
const madeAnew = [/^nftables\/set inet podwire structure_seal$/];

const points = [
  ...[
    'teardown:marked',
    'remove:0:nft-element',
    'remove-links:pod',
    'remove-links:host',
    'teardown:forgotten',
  ],
  ...[
    'reconcile:dead-removed',
    'repair:replace:sysctl',
    'repair:add:nft-table',
    'repair:replace:token-bucket',
  ],
  ...['repair:add:route', 'repair:add:address', 'repair:add:nft-element'],
  ...[
    'prune:element',
    'prune:nftables',
    'prune:route',
    'prune:link',
    'reconcile:end',
    'deferred:begin',
    'deferred:end',
  ],
];

/** @param single every resource alone; else in batches, as always */
export function defineRecoveryCases(single: boolean): void {
  void describe(single ? 'every resource alone' : 'in batches, as always', () => {
    let faults: FaultHost;
    let keeper: Subject;
    let lasting: TestNamespace;
    let atRest: Snapshot;
    before(async () => {
      faults = await createFaultHost({ name: single ? 'rec1' : 'rec', single });
      await faults.succeed(await bystanderCall(faults.host));
      keeper = await createFullSubject(faults.host);
      lasting = await addPod(faults.host, 'lasting');
      await faults.succeed(keeper.add);
      await keeper.checkTraffic();
      atRest = await faults.snapshot(keeper.pod, lasting);
    });
    after(() => faults.close());

    const assertAtRest = async (): Promise<void> => {
      await untilSameSnapshot(atRest, () => faults.snapshot(keeper.pod, lasting), { ignore: madeAnew });
      assert.deepEqual(await faults.api.drift('node'), []);
      const prevResult = await faults.api.answerOf(keeper.key);
      await faults.succeed({ ...keeper.add, command: 'CHECK', config: { ...keeper.add.config, prevResult } });
      const keys = (await faults.api.endpoints()).map(({ key }) => key).sort();
      assert.deepEqual(keys, ['bystander,bystander,eth0', keeper.key]);
      assert.deepEqual(await leasesOf(faults.api, keeper.key), [...keeper.addresses].sort());
      assert.equal((await faults.api.leases()).length, 4);
      const { problem, recordProblems } = await faults.api.status();
      assert.deepEqual({ problem, recordProblems }, { problem: null, recordProblems: [] });
    };

    void test('recovery', async (context) => {
      const { agent, injector } = faults;
      await makeMess(faults, keeper, lasting);
      await faults.restart();
      // How often links are deleted depends on the time that the rest takes.
      const all = injector
        .occurrences()
        .filter(({ point, skip }) => skip === 0 || !point.startsWith('deferred:'));
      // In batches only the reconcile itself differs; the way of a single endpoint is in the tests of DEL.
      const occurrences = single
        ? all
        : all.filter(({ point }) => /^(repair|prune|reconcile|deferred):/.test(point));
      await assertAtRest();
      const deaths = pickSteps(occurrences, single);
      const names = new Set(deaths.map(({ point }) => point));
      const missed = points.filter((point) => !names.has(point));
      if (single) assert.deepEqual(missed, []);

      for (const occurrence of deaths) {
        await inCase(`kill -9 at ${describeOccurrence(occurrence)} of recovery`, faults, async () => {
          await makeMess(faults, keeper, lasting);
          injector.clear();
          injector.inject({ ...occurrence, signal: 'SIGKILL' });
          await agent.start().catch((error: unknown) => assert.match(String(error), /ended with SIGKILL/));
          assert.equal((await untilDead(agent)).signal, 'SIGKILL');
          assert.equal(injector.isPending(), false, 'the agent died elsewhere');
          await faults.restart();
          await assertAtRest();
        });
      }
      await keeper.checkTraffic();
      await faults.succeed(keeper.del);
      await assertPoolWhole(faults, lasting);
      context.diagnostic(`killed at ${deaths.length} of ${occurrences.length} occurrences`);
    });
  });
}

/** Leaves the agent dead, and the node as many accidents at once would. */
async function makeMess(faults: FaultHost, keeper: Subject, lasting: TestNamespace): Promise<void> {
  const { agent, host } = faults;
  const gone = host.addPod();
  const attach = (id: string, netns: string, runtimeConfig: object): CniCall => {
    const ips = [`10.66.0.${id.length}`, `fd66::${id.length}`];
    return { command: 'ADD', id, netns, ifName: id, config: { runtimeConfig: { ips, ...runtimeConfig } } };
  };
  const portMappings = [{ hostPort: 7000, containerPort: 70, protocol: 'udp' }];
  // The length of a name makes the address.
  await faults.succeed(attach('add', lasting.path, { portMappings, bandwidth: { egressRate: 1_000_000 } }));
  await faults.succeed(attach('dele', lasting.path, {}));
  await faults.succeed(attach('empty', gone.path, {}));
  const { hostInterface } = (await faults.api.endpoints()).find(({ key }) => key === keeper.key)!;
  await agent.kill9();

  for (const [id, phase] of [
    ['add', 'wiring'],
    ['dele', 'removing'],
  ] as const) {
    const file = recordFile(agent, `${networkName},${id},${id}`);
    fs.renameSync(file, file.replace(/\.ready$/, `.${phase}`));
  }
  const torn = path.join(agent.stateDirectory, 'endpoints', `${networkName},torn,eth0.wiring`);
  fs.writeFileSync(torn, '{"version":1,"id":{"containerId":"torn"', { mode: 0o600 });
  host.removePod(gone);
  await driftAway(faults, keeper, hostInterface);
  await host.namespace.ip(
    'link add orphan type ifb',
    `link set orphan group ${liveGroup}`,
    'route add blackhole 10.66.0.7/32 proto 157',
  );
}

/** Another program changes what belongs to the node and to the keeper. */
async function driftAway({ host }: FaultHost, keeper: Subject, hostInterface: string): Promise<void> {
  const [ipv4, ipv6] = keeper.addresses;
  await host.namespace.ip(`route del ${ipv4}/32 dev ${hostInterface}`);
  await keeper.pod.ip(`addr del ${ipv6}/128 dev eth0`);
  const tbf = ['root', 'tbf', 'rate', '1mbit', 'burst', '10k', 'limit', '20k'];
  await host.run(['tc', 'qdisc', 'replace', 'dev', hostInterface, ...tbf]);
  await host.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=0']);
  await host.run(['nft', '-f', '-'], {
    input: [
      'delete element inet podwire hostports4 { tcp . 8080 }',
      'add element inet podwire hostports6 { tcp . 9999 : fd66::7 . 99 }',
      'add chain inet podwire extra',
      'add table ip podwire_old',
      '',
    ].join('\n'),
  });
}
