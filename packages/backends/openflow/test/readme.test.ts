import fs from 'node:fs';
import path from 'node:path';
import { deleteFlows } from '@podwire/openflow';
import { expect, test } from 'vitest';
import { keepService } from './example.js';
import { connectTo, createFakeBridge } from './fake-bridge.js';

test('the README shows example.ts, which is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const bridge = createFakeBridge();
  const damage = async (): Promise<void> => {
    const connection = await connectTo(bridge);
    await connection.send([deleteFlows()]);
    connection.close();
  };
  expect(await keepService((_, options) => connectTo(bridge, options), damage)).toEqual([
    'repaired flow table=60,priority=100,ip,ip_dst=172.30.0.9 on br0',
  ]);
  expect([bridge.flows(), bridge.groups()]).toEqual([[], []]);
});
