import assert from 'node:assert/strict';
import { CgroupDriver, isCriError } from '@podwire/cri';
import type { ComplianceCase } from './target.js';

export const runtimeCases: readonly ComplianceCase[] = [
  {
    title: 'Version says who answers',
    needs: [],
    run: async ({ runtime }) => {
      const answer = await runtime.version({ version: 'v1' });
      assert.notEqual(answer.runtimeName, '');
      assert.notEqual(answer.runtimeVersion, '');
      assert.match(answer.runtimeApiVersion, /^v1(alpha2)?$/);
    },
  },
  {
    title: 'Status has both conditions, and they hold',
    needs: [],
    run: async ({ runtime }) => {
      const { status } = await runtime.status({ verbose: false });
      for (const type of ['RuntimeReady', 'NetworkReady']) {
        const condition = status?.conditions.find((each) => each.type === type);
        assert.equal(condition?.status, true, `${type}: ${condition?.reason} ${condition?.message}`);
      }
    },
  },
  {
    title: 'RuntimeConfig names the cgroup driver',
    needs: ['runtime config'],
    run: async ({ runtime }) => {
      const { linux } = await runtime.runtimeConfig({});
      const drivers: readonly (CgroupDriver | undefined)[] = Object.values(CgroupDriver);
      assert.ok(drivers.includes(linux?.cgroupDriver));
    },
  },
  {
    title: 'UpdateRuntimeConfig is taken, or said not to be there',
    needs: [],
    run: async ({ runtime }) => {
      const runtimeConfig = { networkConfig: { podCidr: '10.244.0.0/24' } };
      await runtime.updateRuntimeConfig({ runtimeConfig }).catch((error: unknown) => {
        if (!isCriError(error, 'UNIMPLEMENTED')) throw error;
      });
    },
  },
];
