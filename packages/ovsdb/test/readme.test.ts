/** Examples of the README: they are files that are compiled, and run here on the in-memory server. */
import fs from 'node:fs';
import path from 'node:path';
import { FakeServer } from '@podwire/ovsdb/fake';
import { afterEach, describe, expect, test } from 'vitest';
import { addPort, openSwitch, untilConnected } from '../examples/ports.js';
import { loseAnswer } from '../examples/without-server.js';
import { parseEndpoint } from '../src/index.js';

const folder = path.join(import.meta.dirname, '..');
const read = (file: string): string => fs.readFileSync(path.join(folder, file), 'utf8');
const schemaFile = path.join(folder, 'examples/switch.ovsschema');

test.each(['ports.ts', 'without-server.ts'])('the README shows the example %s', (file) => {
  expect(read('README.md')).toContain(`\`\`\`ts examples/${file}\n${read(`examples/${file}`)}\`\`\``);
});

describe('the example of ports', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function open() {
    const directory = fs.mkdtempSync('/tmp/pwt-ovsdb-');
    ends.push(() => fs.rmSync(directory, { recursive: true }));
    const server = new FakeServer({ schema: JSON.parse(fs.readFileSync(schemaFile, 'utf8')) });
    const endpoint = `unix:${directory}/db.sock`;
    const listener = await server.listen(`${directory}/db.sock`);
    ends.push(() => new Promise((resolve) => listener.close(resolve)));
    ends.push(() => server.stop());
    server.transact(
      { op: 'insert', table: 'Open_vSwitch', row: { bridges: ['named-uuid', 'b'] } },
      { op: 'insert', table: 'Bridge', row: { name: 'br0' }, 'uuid-name': 'b' },
    );
    const client = openSwitch(endpoint);
    ends.push(() => client.close());
    return { server, client };
  }

  test('adds a port once, and waits for the number that the switch gives to it', async () => {
    const { server, client } = await open();
    const uuid = await addPort(client, 'br0', 'web0', 5);
    const connected = untilConnected(client, 'web0', AbortSignal.timeout(10_000));
    await expect(addPort(client, 'br0', 'web0')).rejects.toMatchObject({ isGuardFailure: true });
    server.transact({ op: 'update', table: 'Interface', where: [], row: { ofport: 7 } });
    expect(await connected).toBe(7);
    const [{ rows }] = await client.transact([
      { op: 'select', table: 'Bridge', where: [], columns: ['ports'] },
    ]);
    expect(rows).toEqual([{ ports: new Set([uuid]) }]);
    await expect(addPort(client, 'br1', 'web1')).rejects.toThrow('there is no bridge br1');
  });

  test('takes the endpoints that its comment names', () => {
    for (const endpoint of ['unix:/run/openvswitch/db.sock', 'tcp:127.0.0.1:6640'])
      expect(parseEndpoint(endpoint)).toBeDefined();
  });
});

test('the example without a server prints what the README says', async () => {
  const printed = await loseAnswer(schemaFile);
  expect(read('README.md')).toContain(`\`\`\`text\n${printed.join('\n')}\n\`\`\``);
});
