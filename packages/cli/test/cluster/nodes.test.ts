import { describe, expect, test } from 'vitest';
import { createUsedCluster } from './cluster.js';

describe('nodes', () => {
  test('as a table', async () => {
    const cluster = await createUsedCluster();
    await cluster.leave('n2');
    await cluster.absence('n2');
    cluster.advance(30_000);
    const { stdout } = await cluster.podwire('nodes');
    expect(stdout.split('\n')).toEqual([
      'NAME   STATE         SINCE   BLOCKS   IN USE   BORROWED   VERSION   ADDRESSES',
      'n1     ready           90s        1        1          0   0.1.0     192.0.2.1/24',
      'n2     unreachable     30s        1        1          1   0.1.0     192.0.2.1/24',
      '',
    ]);
    expect((await cluster.podwire('nodes -o name')).stdout).toBe('n1\nn2\n');
    const { nodes } = JSON.parse((await cluster.podwire('nodes -o json')).stdout) as { nodes: object[] };
    expect(nodes[1]).toMatchObject({ name: 'n2', state: 'unreachable', blocks: ['10.244.1.0/26'] });
  });

  test('one', async () => {
    const cluster = await createUsedCluster();
    const { stdout } = await cluster.podwire('nodes n2');
    expect(stdout).toBe(`node n2: ready for 60s
version    0.1.0
instance   n2-1
addresses  192.0.2.1/24, MTU 1500
tunnel     10.244.0.1 02:00:00:00:00:01
labels     zone=a
blocks     10.244.1.0/26
borrowed   10.244.0.33
in use     1 address
`);
    const unknown = await cluster.podwire('nodes n9');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('code: NODE_UNKNOWN')]);
  });

  test('forget one that is gone, not one that is up', async () => {
    const cluster = await createUsedCluster();
    const refused = await cluster.podwire('nodes forget n2');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('node n2 is up')]);
    await cluster.leave('n2');
    const warned = await cluster.podwire('nodes forget n2');
    expect([warned.code, warned.stderr]).toEqual([
      1,
      'error: node n2 has reported 1 pod (default/db-0), which may still run: their addresses would be given to others\n' +
        'what to do: `--yes` does it all the same.\ncode: CONFIRMATION_MISSING\n',
    ]);
    const no = await cluster.podwire('nodes forget n2', { answers: ['n'] });
    expect([no.code, no.stderr]).toEqual([1, 'error: nothing was changed\ncode: CONFIRMATION_MISSING\n']);
    expect((await cluster.podwire('nodes -o name')).stdout).toBe('n1\nn2\n');
    const { code, stdout } = await cluster.podwire('nodes forget n2', { answers: ['yes'] });
    expect(code).toBe(0);
    expect(stdout).toBe(
      'node n2 is forgotten: 1 block is free, 1 borrowed address; 1 address was allocated\n',
    );
    expect((await cluster.podwire('nodes -o name')).stdout).toBe('n1\n');
  });
});

describe('workload', () => {
  test('set, list, delete', async () => {
    const cluster = await createUsedCluster();
    const set = await cluster.podwire('workload set prod/db-0 --address 10.244.7.10,10.244.7.11 --sticky on');
    expect(set.stdout).toBe('workload default/prod/db-0: addresses 10.244.7.10 10.244.7.11, sticky\n');
    await cluster.podwire('workload set web-* --pool main');
    expect((await cluster.podwire('workload list')).stdout.split('\n').slice(0, 3)).toEqual([
      'NETWORK   PODS            ADDRESSES                 POOLS   STICKY   ASSIGNED',
      'default   default/web-*                             main    no',
      'default   prod/db-0       10.244.7.10 10.244.7.11           yes',
    ]);
    await cluster.podwire(['workload', 'set', 'prod/db-0', '--address', '', '--pool', 'main']);
    const listed = JSON.parse((await cluster.podwire('workload list -o json')).stdout) as {
      workloads: object[];
    };
    expect(listed.workloads[1]).toMatchObject({ name: 'db-0', addresses: [], pools: ['main'], sticky: true });
    expect((await cluster.podwire('workload delete prod/db-0')).code).toBe(0);
    const again = await cluster.podwire('workload delete prod/db-0');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('no workload default/prod/db-0')]);
  });

  test('an address that another pod has is refused, unless it is forced', async () => {
    const cluster = await createUsedCluster();
    const refused = await cluster.podwire('workload set other --address 10.244.0.20');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'error: other pods have addresses of the workload: 10.244.0.20: default/web on node n1\n',
    );
    const forced = await cluster.podwire('workload set other --address 10.244.0.20 --force');
    expect([forced.code, forced.stdout]).toEqual([
      0,
      'workload default/default/other: addresses 10.244.0.20, not sticky\n',
    ]);
  });

  test('the pods of the workload itself may have it', async () => {
    const cluster = await createUsedCluster();
    expect((await cluster.podwire('workload set web --address 10.244.0.20')).code).toBe(0);
    expect((await cluster.podwire('workload set db-* --address 10.244.0.33')).code).toBe(0);
  });

  test('of what no pool has', async () => {
    const cluster = await createUsedCluster();
    const { code, stderr } = await cluster.podwire('workload set x --address 172.20.0.1');
    expect([code, stderr]).toEqual([1, expect.stringContaining('addresses: 172.20.0.1 is in no pool')]);
  });
});
