import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, writeTemporary } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { createCluster, createUsedCluster } from './cluster.js';

const shown = async (line: string, cluster = createCluster()): Promise<unknown> =>
  JSON.parse((await cluster.podwire(`${line} -o json`)).stdout) as unknown;

describe('pool create', () => {
  test('makes a pool with what is given', async () => {
    const cluster = createCluster();
    const { code, stdout } = await cluster.podwire('pool create main 10.244.0.0/16');
    expect([code, stdout]).toEqual([0, 'pool main: 10.244.0.0/16, blocks of /26, vxlan-cross-subnet\n']);
    const line =
      'pool create ssd fd00::/64 --network blue --block-size 120 --allocation node-cidr --disabled --nat-outgoing off --encapsulation direct --reserved fd00::1,fd00::10/124 --assignment manual --borrowing off --max-blocks-per-node 3 --node-selector disk=ssd';
    expect(await shown(line, cluster)).toEqual({
      name: 'ssd',
      network: 'blue',
      cidr: 'fd00::/64',
      blockSize: 120,
      encapsulation: 'direct',
      natOutgoing: false,
      disabled: true,
      reserved: ['fd00::1', 'fd00::10/124'],
      nodeSelector: 'disk=ssd',
      assignment: 'manual',
      allocation: 'node-cidr',
      borrowing: false,
      maxBlocksPerNode: 3,
      deleting: false,
      warnings: [],
    });
  });

  test('takes the encapsulation of the other pools, and warns of another one', async () => {
    const cluster = createCluster();
    await cluster.podwire('pool create main 10.244.0.0/16 --encapsulation vxlan');
    const alike = await cluster.podwire('pool create web 10.245.0.0/16');
    expect([alike.stdout, alike.stderr]).toEqual(['pool web: 10.245.0.0/16, blocks of /26, vxlan\n', '']);
    const warning =
      'pools of network default differ in their encapsulation: db direct, main vxlan, web vxlan';
    const mixed = await cluster.podwire('pool create db 10.246.0.0/16 --encapsulation direct');
    expect([mixed.code, mixed.stderr]).toEqual([0, `warning: ${warning}\n`]);
    const shown = await cluster.podwire('pool set db --encapsulation direct -o json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ warnings: [warning] });
    const other = await cluster.podwire('pool create blue 10.247.0.0/16 --network blue');
    expect(other.stdout).toContain('vxlan-cross-subnet');
  });

  test("takes an encapsulation of the network's model, and refuses a misspelled one", async () => {
    const cluster = createCluster();
    const own = await cluster.podwire('pool create main 10.244.0.0/16 --encapsulation geneve');
    expect([own.code, own.stdout]).toEqual([0, 'pool main: 10.244.0.0/16, blocks of /26, geneve\n']);
    const misspelled = await cluster.podwire('pool set main --encapsulation vxlna');
    expect(misspelled.code).toBe(2);
    expect(misspelled.stderr).toContain('did you mean vxlan?');
    const invalid = await cluster.podwire('pool set main --encapsulation A/B');
    expect(invalid.code).toBe(1);
    expect(invalid.stderr).toContain('encapsulation: no name of an encapsulation');
  });

  test('says which field is wrong', async () => {
    const cluster = await createUsedCluster();
    const { code, stderr } = await cluster.podwire('pool create second 10.244.8.0/24');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: pool second: cidr: 10.244.8.0\/24 overlaps 10.244.0.0\/16 \(pool main.cidr\)\n/,
    );
    expect(stderr).toContain('code: POOL_INVALID');
  });

  test.each([
    'pool create',
    'pool create x',
    'pool create x 10.0.0.0/8 --nat-outgoing maybe',
    'pool set main',
  ])('%s is no command line', async (line) => {
    const cluster = await createUsedCluster();
    expect((await cluster.podwire(line)).code).toBe(2);
  });
});

describe('pool', () => {
  test('list', async () => {
    const cluster = await createUsedCluster();
    const { stdout } = await cluster.podwire('pool list');
    expect(stdout.split('\n')).toEqual([
      'NAME   NETWORK   CIDR            BLOCK   BLOCKS   IN USE    FREE   ENCAPSULATION        STATE',
      'main   default   10.244.0.0/16     /26        2        2   65517   vxlan-cross-subnet   enabled',
      '',
    ]);
    expect((await cluster.podwire('pool list -o name')).stdout).toBe('main\n');
    expect(await shown('pool list', cluster)).toMatchObject({ pools: [{ name: 'main', inUse: 2, lent: 1 }] });
  });

  test('list of nothing says how to make one', async () => {
    const { code, stdout, stderr } = await createCluster().podwire('pool list');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('podwire pool create');
  });

  test('show', async () => {
    const cluster = await createUsedCluster();
    const { stdout } = await cluster.podwire('pool show main');
    expect(stdout).toContain('pool main: 10.244.0.0/16 of network default, enabled\n');
    expect(stdout).toContain(
      'addresses      65536: 2 in use, 17 reserved, 65517 free, 1 lent to other nodes\n',
    );
    expect(stdout).toMatch(/\n10\.244\.1\.0\/26 +n2 +confirmed +64 +0 +0\n/);
    const unknown = await cluster.podwire('pool show mian');
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('no pool mian; there are main'),
    ]);
  });

  test('set', async () => {
    const cluster = await createUsedCluster();
    const { stdout } = await cluster.podwire('pool set main --disable --max-blocks-per-node 5');
    expect(stdout).toBe('pool main: max-blocks-per-node 5, disabled\n');
    const line = [
      'pool',
      'set',
      'main',
      '--enable',
      '--reserved',
      '',
      '--max-blocks-per-node',
      'none',
      '-o',
      'json',
    ];
    const changed = JSON.parse((await cluster.podwire(line)).stdout) as object;
    expect(changed).toMatchObject({ disabled: false, reserved: [] });
    expect(changed).not.toHaveProperty('maxBlocksPerNode');
  });

  test('delete names who uses it; with --wait it goes with its last block', async () => {
    const cluster = await createUsedCluster();
    const refused = await cluster.podwire('pool delete main');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('nodes n1, n2 have blocks of it');
    expect(refused.stderr).toContain('default/db-0, default/web');
    const waiting = cluster.podwire('pool delete main --wait');
    for (const cidr of ['10.244.0.0/26', '10.244.1.0/26'])
      await cluster.store.delete(cluster.keys.block(cidr));
    const { code, stdout, stderr } = await waiting;
    expect([code, stdout]).toEqual([0, 'pool main is deleted\n']);
    expect(stderr === '' || stderr === 'waiting for pool main\n').toBe(true);
  });
});

describe('which cluster', () => {
  test('none', async () => {
    const { code, stderr } = await createCluster().podwire('pool list', { env: { PODWIRE_STORE: '' } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: no store is named: give --store URL, --config FILE/);
    expect(stderr).toContain('code: CONFIG_INVALID');
  });

  test('of the environment, of a configuration, of --store: each counts more', async () => {
    const cluster = createCluster();
    const config = writeTemporary(
      'agent.yaml',
      'cluster:\n  store: { kind: etcd, endpoints: ["http://configured:1"] }\n  root: /other\n',
    );
    await cluster.podwire('pool create a 10.0.0.0/16');
    await cluster.podwire(`pool create b 10.0.0.0/16 --config ${config}`);
    await cluster.podwire(
      `pool create c 10.0.0.0/16 --config ${config} --store etcd://given:2 --root /third`,
    );
    expect(cluster.opened).toEqual([
      { kind: 'etcd', endpoints: ['http://store:2379'] },
      { kind: 'etcd', endpoints: ['http://configured:1'] },
      { kind: 'etcd', endpoints: ['http://given:2'] },
    ]);
    for (const [root, name] of [
      ['/podwire', 'a'],
      ['/other', 'b'],
      ['/third', 'c'],
    ]) {
      expect((await cluster.podwire(`pool list -o name --root ${root}`)).stdout).toBe(`${name}\n`);
    }
  });

  test.each(['--store mysql://x', '--store etcd://', '--root podwire', '--root /'])(
    'not %s',
    async (words) => {
      const { code, stderr } = await createCluster().podwire(`pool list ${words}`);
      expect(code).toBe(1);
      expect(stderr).toContain('code: CONFIG_INVALID');
    },
  );

  test('a configuration without one', async () => {
    const config = writeTemporary('agent.yaml', 'nodeName: n1\n');
    const { stderr } = await createCluster().podwire(`pool list --config ${config}`);
    expect(stderr).toContain('has no `cluster`');
  });
});

test.each(['pool list', 'pool delete main', 'nodes', 'workload list', 'ipam show', 'ipam check'])(
  '%s makes no store where there is none',
  async (line) => {
    const directory = path.join(makeTemporaryDirectory(), 'typo');
    const { code, stderr } = await run([...line.split(' '), '--store', `embedded:${directory}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(`there is no store in ${directory}`);
    expect(fs.existsSync(directory)).toBe(false);
  },
);
