import { describe, test } from 'vitest';
import { FakeKernel } from '../src/fake/index.js';
import { complianceCases } from './compliance/index.js';

describe('the fake kernel', () => {
  for (const { name, run } of complianceCases) {
    test(name, () => {
      const kernel = new FakeKernel();
      const namespace = (path: string) => {
        const handle = kernel.createNamespace(path);
        return { fd: handle.fd, connection: kernel.open({ namespace: handle }) };
      };
      run({ host: namespace('/run/netns/host'), pod: namespace('/run/netns/pod') });
    });
  }
});
