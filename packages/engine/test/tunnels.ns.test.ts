import { test } from 'node:test';
import { createPrivateHost } from '@podwire/testkit';
import { openKernel } from '../src/index.js';
import { makeUnderlay, openBench, tunnelCases } from './tunnels.js';

for (const { name, run } of tunnelCases) {
  test(`on the real kernel: ${name}`, async () => {
    const host = await createPrivateHost({ name: 'tunnels' });
    const bench = openBench(openKernel(host.namespace));
    try {
      makeUnderlay(bench.route);
      await run(bench);
    } finally {
      await bench.engine.close();
      await host.close();
    }
  });
}
