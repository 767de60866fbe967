import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from './example.js';
import { addRequest, podBody } from './recorded.js';
import { ask, changed, makeDirectory } from './support.js';

test('the README shows the example, which is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example answers the plugin', async () => {
  const socketPath = path.join(makeDirectory(), 'kube-ovn-daemon.sock');
  const server = await serve(socketPath);
  onTestFinished(() => server.stop(0));
  expect(await ask(socketPath, addRequest(podBody))).toContain('"address": "10.16.0.9"');
  expect(await ask(socketPath, addRequest(changed({ provider: 'x' })))).toContain(
    '"error": "provider x not bind to any subnet"',
  );
});
