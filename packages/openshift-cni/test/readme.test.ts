import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from './example.js';
import { addBody } from './recorded.js';
import { exchange, httpRequest, makeDirectory } from './started-server.js';

test('the README shows the example, which is compiled and run here', () => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, 'example.ts'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example answers the plugin', async () => {
  const directory = path.join(makeDirectory(), 'cniserver');
  const server = await serve(directory);
  onTestFinished(() => server.stop(0));
  expect(await exchange(directory, httpRequest(addBody))).toMatch(
    /\r\n\r\n\{"cniVersion":"0.2.0","ip4":\{"ip":"10.128.0.5\/23","gateway":"10.128.0.1"\},"dns":\{\}\}$/,
  );
});
