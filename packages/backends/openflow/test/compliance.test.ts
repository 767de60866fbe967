import { complianceCases } from '@podwire/engine/compliance';
import { describe, test } from 'vitest';
import { createSubject } from './compliance-subject.js';
import { connectTo, createFakeBridge } from './fake-bridge.js';

describe('the backend on the switch in memory', () => {
  for (const { name, run } of complianceCases)
    test(name, async () => {
      const bridge = createFakeBridge();
      await run(createSubject((options) => connectTo(bridge, options)));
    });
});
