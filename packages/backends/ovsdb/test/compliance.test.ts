import { type BackendSubject, complianceCases } from '@podwire/engine/compliance';
import { describe, test } from 'vitest';
import { createSubject } from './compliance-subject.js';
import { createFakeNorthbound, createFakeSwitch } from './fake-database.js';
import { createNorthboundSubject } from './northbound-subject.js';

const subjects: readonly (readonly [string, () => BackendSubject])[] = [
  ['Open vSwitch', () => createSubject(createFakeSwitch())],
  ['OVN northbound', () => createNorthboundSubject(createFakeNorthbound())],
];

describe.each(subjects)('the backend of %s on the in-memory database', (_, create) => {
  for (const { name, run } of complianceCases)
    test(name, async () => {
      const subject = create();
      await run(subject).finally(() => subject.close());
    });
});
