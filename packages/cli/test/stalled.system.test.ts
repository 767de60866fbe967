/** A process of its own: only Node itself knows when its event loop is empty. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { start } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';

const urlOf = (file: string): string => JSON.stringify(pathToFileURL(checkoutFile(file)).href);

test('a command that can never end exits with 1 and a coded error, and not with 13', async () => {
  const script = `
    import { endWithLoop } from ${urlOf('packages/cli/dist/src/stalled.js')};
    process.exitCode = await endWithLoop(process, new Promise(() => {})).catch((error) => {
      console.error(error.code);
      return 1;
    });`;
  const child = start([process.execPath, '--input-type=module', '--eval', script]);
  const { code } = await child.exited;
  assert.deepEqual({ code, stderr: child.stderr() }, { code: 1, stderr: 'INTERNAL\n' });
});
