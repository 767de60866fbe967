import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';

const dump = (more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'IPPool',
      metadata: { name: 'main' },
      spec: { cidr: '10.0.0.0/16', blockSize: 30, ipipMode: 'CrossSubnet', natOutgoing: true, ...more },
    },
    {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'IPAMBlock',
      metadata: { name: '10-0-0-0-30' },
      spec: {
        cidr: '10.0.0.0/30',
        affinity: 'host:node-1',
        allocations: [null, 0, 1, null],
        attributes: [
          { handle_id: 'a', secondary: { node: 'node-1', namespace: 'default', pod: 'web' } },
          { handle_id: 'b', secondary: { node: 'node-2' } },
        ],
      },
    },
  ],
});

function write(value: unknown): string {
  const file = path.join(makeTemporaryDirectory(), 'calico.json');
  fs.writeFileSync(file, JSON.stringify(value));
  return file;
}

describe('podwire import calico', () => {
  it('shows what would be written, also without a store', async () => {
    const { code, stdout } = await run(['import', 'calico', write(dump()), '--dry-run']);
    expect(stdout).toMatch(/^main +10\.0\.0\.0\/16 +\/30 +vxlan-cross-subnet +nat$/m);
    expect(stdout).toMatch(/^node-1 +1 +1 +0$/m);
    expect(stdout).toMatch(/^node-2 +0 +1 +1$/m);
    expect(stdout).toMatch(/^warning: IPPool main: spec\.ipipMode: is CrossSubnet/m);
    expect(stdout).toMatch(/^4 objects would be written$/m);
    expect(code).toBe(0);
  });

  it('writes into a store, once', async () => {
    const file = write(dump());
    const store = `embedded:${path.join(makeTemporaryDirectory(), 'store')}`;
    const first = await run(['import', 'calico', file, '--store', store, '--network', 'pods', '-o', 'json']);
    expect(JSON.parse(first.stdout)).toMatchObject({
      written: 4,
      present: 0,
      pools: [{ name: 'main', network: 'pods' }],
      blocks: [{ cidr: '10.0.0.0/30', node: 'node-1', loans: [{ address: '10.0.0.2', node: 'node-2' }] }],
      create: [{ kind: 'ledger' }, { kind: 'ledger' }, { kind: 'block' }, { kind: 'pool' }],
      warnings: [{ object: 'IPPool main', field: 'spec.ipipMode' }],
    });
    const second = await run(['import', 'calico', file, '--store', store, '--network', 'pods']);
    expect(second.stdout).toMatch(/^0 objects were written, 4 are there already$/m);
    const looked = await run(['import', 'calico', file, '--store', store, '--dry-run', '--network', 'other']);
    expect(looked.code).toBe(1);
    expect(looked.stderr).toMatch(
      /pool main: network: is there already with "pods", and the dump says "other"/,
    );
  });

  it('names everything that is wrong', async () => {
    const file = write(dump({ nodeSelector: 'a contains "b"', vxlanMode: 'Always' }));
    const { code, stdout } = await run(['import', 'calico', file, '--dry-run', '-o', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'IMPORT_INVALID',
        details: {
          problems: [
            expect.stringMatching(/^IPPool main: spec\.nodeSelector: .*parts of values/),
            expect.stringMatching(/^IPPool main: spec\.ipipMode: /),
          ] as unknown,
        },
      },
    });
  });

  it('needs a store to write to, and files that are there', async () => {
    expect((await run(['import', 'calico', write(dump())])).stderr).toMatch(/no store is named/);
    expect((await run(['import', 'calico', '/nonexistent', '--dry-run'])).stderr).toMatch(/cannot be read/);
  });
});
