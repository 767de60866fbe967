import { complianceCases } from '@podwire/engine/compliance';
import { describe, test } from 'vitest';
import { createSubject } from './compliance-subject.js';
import { createFakeSwitch } from './fake-switch.js';

describe('the backend on the in-memory database', () => {
  for (const { name, run } of complianceCases)
    test(name, async () => {
      const { client, picture } = createFakeSwitch();
      const subject = createSubject({ client, picture });
      await run(subject).finally(() => subject.close());
    });
});
