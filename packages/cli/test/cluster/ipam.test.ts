import { describeAddress } from '../../src/cluster/ipam-show.js';
import { describe, expect, test } from 'vitest';
import { startFakeAgent, writeTemporary } from '../support.js';
import { createUsedCluster } from './cluster.js';

const hour = 3_600_000;

describe('ipam show', () => {
  test('pools with their numbers', async () => {
    const cluster = await createUsedCluster();
    expect((await cluster.podwire('ipam show')).stdout.split('\n')).toEqual([
      'POOL                   BLOCKS   TOTAL   IN USE   LENT   RESERVED    FREE   STATE',
      'main (10.244.0.0/16)        2   65536        2      1         17   65517   enabled',
      '',
    ]);
  });

  test('blocks, addresses, borrowed addresses and settings', async () => {
    const cluster = await createUsedCluster();
    const { stdout } = await cluster.podwire('ipam show --blocks --leases --borrowed --configuration');
    expect(stdout).toMatch(/\n {2}10\.244\.0\.0\/26 +n1 +64 +2 +1 +62 +confirmed\n/);
    expect(stdout).toMatch(/\n10\.244\.0\.20 +default\/web +n1 +6m0s\n/);
    expect(stdout).toMatch(/\n10\.244\.0\.33 +10\.244\.0\.0\/26 +n1 +n2 +default\/db-0\n/);
    expect(stdout).toMatch(/\nmain network="default" cidr="10\.244\.0\.0\/16" blockSize=26 /);
  });

  test('who has an address', async () => {
    const cluster = await createUsedCluster();
    expect((await cluster.podwire('ipam show --ip 10.244.0.33')).stdout).toBe(`10.244.0.33: in use
pod      default/db-0 on node n2 since 2026-03-01T11:55:00.000Z
pool     main (network default)
block    10.244.0.0/26 of node n1
lent to  node n2
`);
    expect((await cluster.podwire('ipam show --ip 172.20.0.1')).stdout).toBe('172.20.0.1: in no pool\n');
    expect((await cluster.podwire('ipam show --ip 10.244.0.999')).code).toBe(2);
    // Imported without a time.
    const uses = [{ owner: 'c', pod: 'default/old', node: 'n1', since: 0, reportedAt: 0 }];
    const lines = describeAddress({ address: '10.244.0.9', state: 'in-use', uses });
    expect(lines.join('\n')).toMatch(/pod +default\/old on node n1$/m);
    const json = JSON.parse((await cluster.podwire('ipam show --ip 10.244.0.20 -o json')).stdout) as object;
    expect(json).toMatchObject({
      state: 'in-use',
      blockOwner: 'n1',
      uses: [{ pod: 'default/web', node: 'n1' }],
    });
  });

  test('without a store it is that of the node, and so is everything with a socket', async () => {
    const cluster = await createUsedCluster();
    const agent = await startFakeAgent({ 'GET /v1/ipam': { body: { networks: [] } } });
    try {
      const none = { env: { PODWIRE_STORE: '', PODWIRE_SOCKET: agent.socket } };
      for (const line of ['ipam', 'ipam show', 'ipam node']) {
        expect((await cluster.podwire(`${line} -o json`, none)).stdout).toBe('{\n  "networks": []\n}\n');
      }
      await cluster.podwire(`ipam show --socket ${agent.socket}`);
      expect(agent.asked).toHaveLength(4);
    } finally {
      await agent.close();
    }
  });
});

describe('ipam check', () => {
  test('of what is as it should be', async () => {
    const cluster = await createUsedCluster();
    const { code, stdout } = await cluster.podwire('ipam check');
    expect(code).toBe(0);
    expect(stdout).toBe('looked at 1 pool, 2 blocks, 2 nodes, 2 addresses, 0 workloads: nothing is wrong\n');
  });

  test('finds, repairs, and lists what is left', async () => {
    const cluster = await createUsedCluster();
    await cluster.block('10.244.9.0/26', 'gone');
    await cluster.block('10.99.0.0/26', 'n1');
    cluster.advance(hour);
    const found = await cluster.podwire('ipam check');
    expect(found.code).toBe(4);
    expect(found.stdout).toBe(`leaked     block 10.244.9.0/26 belongs to node gone, which is not registered
           --fix deletes block 10.244.9.0/26
outside    block 10.99.0.0/26 lies in no pool
           node n1 gives it back when its last pod is gone
looked at 1 pool, 4 blocks, 2 nodes, 2 addresses, 0 workloads: 1 leaked, 1 outside
1 of them can be repaired: podwire ipam check --fix
`);
    const fixed = await cluster.podwire('ipam check --fix');
    expect(fixed.code).toBe(4);
    expect(fixed.stdout).toContain(
      'repaired   block 10.244.9.0/26 belongs to node gone, which is not registered: deletes block 10.244.9.0/26\n',
    );
    expect(fixed.stdout).toContain('1 repaired, 1 left; looked at 1 pool, 3 blocks');
    await cluster.store.delete(cluster.keys.block('10.99.0.0/26'));
    expect((await cluster.podwire('ipam check --fix')).code).toBe(0);
  });

  test('takes a report of a while ago for what needs patience', async () => {
    const cluster = await createUsedCluster();
    await cluster.store.put(
      cluster.keys.workload('default', 'default', 'x'),
      '{"kind":"workload","version":1,"value":{"network":"default","namespace":"default","name":"x","addresses":[],"pools":[],"sticky":false,"assigned":{"x":["10.244.0.50"]}}}',
    );
    const report = await cluster.podwire('ipam check -o json');
    expect(report.code).toBe(4);
    const file = writeTemporary('report.json', report.stdout);
    const tooEarly = await cluster.podwire(`ipam check --fix --from-report ${file}`);
    expect([tooEarly.code, tooEarly.stdout]).toEqual([
      4,
      expect.stringContaining('found for the first time'),
    ]);
    cluster.advance(hour);
    const { code, stdout } = await cluster.podwire(`ipam check --fix --from-report ${file}`);
    expect([code, stdout]).toEqual([0, expect.stringContaining('frees 10.244.0.50')]);
  });

  test('as JSON', async () => {
    const cluster = await createUsedCluster();
    await cluster.block('10.244.9.0/26', 'gone');
    cluster.advance(hour);
    const checked = JSON.parse((await cluster.podwire('ipam check -o json')).stdout) as object;
    expect(checked).toMatchObject({
      looked: { blocks: 3 },
      findings: [{ kind: 'leaked', node: 'gone', mend: 'deletes block 10.244.9.0/26' }],
    });
    const fixed = JSON.parse((await cluster.podwire('ipam check --fix -o json')).stdout) as object;
    expect(fixed).toMatchObject({
      findings: [],
      mended: [{ what: 'deletes block 10.244.9.0/26' }],
      left: [],
    });
  });

  test('a file that is no report', async () => {
    const cluster = await createUsedCluster();
    const file = writeTemporary('report.json', '{"at":1}');
    const { code, stderr } = await cluster.podwire(`ipam check --fix --from-report ${file}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no report of `podwire ipam check -o json`')]);
  });
});

describe('ipam release', () => {
  test('of an address in use names its pod; with force it is out of the allocation records', async () => {
    const cluster = await createUsedCluster();
    const refused = await cluster.podwire('ipam release 10.244.0.20');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('10.244.0.20: node n1, which is up, reports it for default/web'),
    ]);
    const forced = await cluster.podwire('ipam release 10.244.0.20 --force');
    expect([forced.code, forced.stdout]).toEqual([0, '10.244.0.20: taken out of the record of node n1\n']);
    const unallocated = await cluster.podwire('ipam release 10.244.0.20');
    expect([unallocated.code, unallocated.stdout]).toEqual([4, '10.244.0.20: unallocated\n']);
  });

  test('of what reports agree on', async () => {
    const cluster = await createUsedCluster();
    const report = async (): Promise<string> =>
      writeTemporary('report.json', (await cluster.podwire('ipam check -o json')).stdout);
    await cluster.block('10.244.9.0/26', 'gone');
    cluster.advance(hour);
    const first = await report();
    await cluster.block('10.244.10.0/26', 'gone');
    cluster.advance(hour);
    const second = await report();
    const { code, stdout } = await cluster.podwire(
      `ipam release --from-report ${first} --from-report ${second}`,
    );
    expect(code).toBe(4);
    expect(stdout).toContain('deletes block 10.244.9.0/26');
    expect(stdout).toContain('it is not in every report');
  });

  test.each(['ipam release', 'ipam release 10.0.0.1 --from-report x', 'ipam release ten'])(
    '%s is no command line',
    async (line) => {
      expect((await (await createUsedCluster()).podwire(line)).code).toBe(2);
    },
  );
});

describe('ipam split and migrate', () => {
  test('split', async () => {
    const cluster = await createUsedCluster();
    const { code, stdout } = await cluster.podwire('ipam split main 2');
    expect([code, stdout]).toEqual([
      0,
      'pool main is now 2 pools; blocks and pods stay as they are\n  main-1   10.244.0.0/17\n  main-2   10.244.128.0/17\n',
    ]);
    expect((await cluster.podwire('ipam check')).code).toBe(0);
    expect((await cluster.podwire('ipam split main-1 3')).stderr).toContain('is no power of two');
    expect((await cluster.podwire('ipam split main-1 half')).code).toBe(2);
  });

  test('migrate shows who is left, and with --wait ends', async () => {
    const cluster = await createUsedCluster();
    await cluster.podwire('pool create new 10.50.0.0/16');
    await cluster.leave('n2');
    const begun = await cluster.podwire('ipam migrate main new');
    expect(begun.code).toBe(0);
    expect(begun.stdout)
      .toBe(`pool main is disabled: new pods get addresses of new; 2 pods, 2 blocks left, 1 of a node that is unreachable
ADDRESS       POD            NODE   AGE
10.244.0.20   default/web    n1     6m0s
10.244.0.33   default/db-0   n2     6m0s
node n2 is unreachable and gives nothing back: podwire nodes forget n2
Delete these pods and let them be made again, as it suits their workloads.
Then \`podwire ipam migrate main new --wait\` deletes main.
`);
    await cluster.podwire('nodes forget n2 --yes');
    await cluster.store.delete(cluster.keys.allocationRecord('10.244.0.0/26', 'n1'));
    await cluster.store.delete(cluster.keys.block('10.244.0.0/26'));
    const ended = await cluster.podwire('ipam migrate main new --wait -o json');
    expect(JSON.parse(ended.stdout)).toEqual({ from: 'main', to: 'new', pods: [], blocks: [], done: true });
    expect((await cluster.podwire('pool list -o name')).stdout).toBe('new\n');
  });
});
