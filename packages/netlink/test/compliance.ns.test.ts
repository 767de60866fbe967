import { test } from 'node:test';
import { complianceCases } from './compliance/index.js';
import { withNamespace } from './private-namespace.js';

for (const { name, run } of complianceCases) {
  test(`the real kernel: ${name}`, () => {
    withNamespace((host) => withNamespace((pod) => run({ host, pod })));
  });
}
