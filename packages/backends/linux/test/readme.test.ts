import fs from 'node:fs';
import path from 'node:path';
import { listRoutes } from '@podwire/netlink';
import { expect, test } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { blockNetworks } from './example.js';

test('the README shows the example that is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const system = createFakeSystem();
  const key = [{ type: 'ipv4_interval', value: '192.0.2.0/24' }] as const;
  const network = { family: 'inet', table: 'podwire-example', set: 'blocked', key } as const;
  const changes = await blockNetworks(system, () => system.nftables.change([{ op: 'delete', ...network }]));
  expect(changes).toEqual(['repaired element 192.0.2.0/24 of set blocked']);
  expect(system.nftables.listTables()).toEqual([]);
  expect(listRoutes(system.host.route)).toEqual([]);
});
