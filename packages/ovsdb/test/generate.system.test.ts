/** Types of Open vSwitch's own schemas: the command writes them, and they compile under the strictest options. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run } from '@podwire/testkit';

/** `dist/test` when this runs. */
const dist = path.resolve(import.meta.dirname, '..');
const modules = path.resolve(dist, '../../../node_modules');
const schemas = ['vswitch', 'local-config'];

let directory: string;
before(() => {
  directory = fs.mkdtempSync('/tmp/pwt-ovsdb-types-');
});
after(() => fs.rmSync(directory, { recursive: true }));

const write = (name: string, text: string): void => fs.writeFileSync(path.join(directory, name), text);

const program = `
import { OvsdbClient } from '@podwire/ovsdb';
import type { InterfaceRow, OpenVSwitchDatabase } from './vswitch.js';

export async function setRate(client: OvsdbClient<OpenVSwitchDatabase>, name: string): Promise<InterfaceRow | undefined> {
  const [, { rows }] = await client.transact([
    { op: 'update', table: 'Interface', where: [['name', '==', name]], row: { ingress_policing_rate: 1000, mtu_request: undefined } },
    { op: 'select', table: 'Interface', where: [['external_ids', 'includes', { 'iface-id': name }]] },
    { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['external_ids', 'delete', ['key']], ['next_cfg', '+=', 1]] },
    { op: 'insert', table: 'QoS', row: { type: 'linux-htb', queues: new Map([[0, { namedUuid: 'q' }]]) } },
    { op: 'insert', table: 'Queue', row: { other_config: { 'max-rate': '1' } }, uuidName: 'q' },
  ]);
  // @ts-expect-error The value is not listed.
  void client.transact([{ op: 'update', table: 'Port', where: [], row: { vlan_mode: 'odd' } }]);
  return rows[0];
}
`;

test('types of the schemas that come with Open vSwitch compile', async () => {
  for (const name of schemas) {
    const schema = `/usr/share/openvswitch/${name}.ovsschema`;
    write(`${name}.ts`, await run([process.execPath, path.join(dist, 'src/generate/main.js'), schema]));
  }
  write('program.ts', program);
  write('package.json', '{"type":"module"}');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    typeRoots: [path.join(modules, '@types')],
    paths: { '@podwire/*': [path.join(modules, '@podwire/*/dist/src/index.d.ts')] },
  };
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = path.join(modules, 'typescript/bin/tsc');
  assert.equal(await run([process.execPath, tsc, '-p', directory], { timeout: 120_000 }), '');
});

test('a file that is no schema is named, with exit code 1', async () => {
  write('faulty.ovsschema', '{"name":"D","tables":{"T":{"columns":{"c":{"type":"text"}}}}}');
  const file = path.join(directory, 'faulty.ovsschema');
  await assert.rejects(run([process.execPath, path.join(dist, 'src/generate/main.js'), file]), {
    exit: { code: 1, signal: null },
    stderr: `podwire-ovsdb-types: ${file}: table T, column c: expected an object, found "text"\n`,
  });
});
