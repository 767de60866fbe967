import { describe, test } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { makeUnderlay, openBench, tunnelCases } from './tunnels.js';

describe('tunnels on the fake system', () => {
  for (const { name, run } of tunnelCases) {
    test(name, async () => {
      const system = createFakeSystem();
      makeUnderlay(system.host.route);
      await run(openBench(system));
    });
  }
});
