/**
 * Unit tests of what looks at the machine, on a machine that never had Podwire and on one that is in use. `npm run
 * test:new-machine` runs all of them there.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { run } from '@podwire/testkit';

const root = path.resolve(import.meta.dirname, '../../..');
const files = [
  'packages/agent/test/node',
  'packages/agent/test/server',
  'packages/cli/test/pods',
  'packages/cli/test/testbed',
  'packages/platform',
];

for (const machine of ['new', 'used'])
  test(`unit tests pass without rights and without a build on a ${machine} machine`, async () => {
    const script = path.join(root, 'scripts/test/new-machine.mjs');
    const output = await run([process.execPath, script, '--machine', machine, ...files], {
      timeout: 280_000,
    });
    assert.match(output, /^\d+ passed, 0 failed$/m);
  });
