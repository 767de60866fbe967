import { test } from 'node:test';
import { complianceCases } from '@podwire/engine/compliance';
import { createPrivateHost, takeSnapshot } from '@podwire/testkit';
import { openKernel } from '../src/index.js';
import { createSubject } from './compliance-subject.js';
import { identify } from './fixture.js';

for (const { name, run } of complianceCases) {
  test(`on the real kernel: ${name}`, async () => {
    const host = await createPrivateHost({ name: 'comply' });
    try {
      const namespace = identify(host.addPod());
      const picture = async (): Promise<unknown> => takeSnapshot(host.namespace);
      await run(createSubject({ open: () => openKernel(host.namespace), namespace, picture }));
    } finally {
      await host.close();
    }
  });
}
