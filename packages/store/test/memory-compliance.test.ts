/** The suite on the memory store: with the machine's time, and with a clock that is moved by hand. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { describeStore, type StoreTarget } from '../src/compliance/index.js';
import { createMemoryServer } from '../src/memory/index.js';
import { createTestClock } from '@podwire/platform/testing';

const runner = { describe, test, before: beforeAll, after: afterAll };

function open(options: Parameters<typeof createMemoryServer>[0] = {}): StoreTarget {
  const server = createMemoryServer(options);
  const store = server.connect();
  return {
    store,
    another: () => Promise.resolve(server.connect()),
    compact: () => Promise.resolve(server.compact()),
    interrupt: () => {
      store.cut();
      return Promise.resolve(() => Promise.resolve(store.restore()));
    },
    connectDeaf: () => {
      const deaf = server.connect({ decide: () => 'answer-lost' });
      return Promise.resolve(deaf);
    },
    close: () => store.close(),
  };
}

describeStore('memory', () => Promise.resolve(open()), runner);

describeStore(
  'memory with a short history and time that is passed in',
  () => {
    const clock = createTestClock();
    const pass = (milliseconds: number): Promise<void> => clock.advance(milliseconds);
    return Promise.resolve({ ...open({ clock, history: 5 }), pass, ttl: 60_000 });
  },
  runner,
  { lacks: ['history'] },
);
