import { createFakePodNetwork } from '@podwire/pod-network/fake';
import { describe, test } from 'vitest';
import { complianceCases, type Subject } from './support/compliance.js';
import { conflist, createHarness, makePod, result } from './support/harness.js';

function fakeSubject(): Promise<Subject> {
  const network = createFakePodNetwork();
  const namespaces = new Map<string, string>();
  const subject: Subject = {
    network,
    makePod: (id, more) => makePod({ namespaces }, id, more),
    failNext: (verb) => network.fail(verb),
    withoutNetwork: () => {
      network.setProblem('there is none');
      return Promise.resolve(subject);
    },
    close: () => network.close(),
  };
  return Promise.resolve(subject);
}

/** The real one over a plugin in memory. */
async function realSubject(withNetwork = true): Promise<Subject> {
  let failing: string | undefined;
  let next = 2;
  const harness = createHarness({
    plugins: {
      bridge: ({ command }) => {
        if (command === failing) {
          failing = undefined;
          return { error: { code: 11, msg: 'as asked for' } };
        }
        return command === 'ADD' ? { result: result(`10.0.0.${next++}/24`) } : undefined;
      },
    },
  });
  if (withNetwork) harness.write('1.conflist', conflist('pods', ['bridge']));
  const others: Subject[] = [];
  return {
    network: await harness.start(),
    makePod: (id, more) => makePod(harness, id, more),
    failNext: (verb) => (failing = verb === 'setUp' ? 'ADD' : 'DEL'),
    withoutNetwork: async () => {
      const other = await realSubject(false);
      others.push(other);
      return other;
    },
    close: async () => {
      for (const other of others) await other.close();
      await harness.close();
    },
  };
}

describe.each([
  ['fake', fakeSubject],
  ['real', () => realSubject()],
] as const)('%s', (_name, create) => {
  test.each(complianceCases)('$name', async ({ run }) => {
    const subject = await create();
    try {
      await run(subject);
    } finally {
      await subject.close();
    }
  });
});
