/** The suite on the embedded store, with all clients in one process; others are in embedded.system.test.ts. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog, systemClock } from '@podwire/platform';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { describeStore, type StoreTarget } from '../src/compliance/index.js';
import { openEmbeddedStore } from '../src/embedded/index.js';

async function open(): Promise<StoreTarget> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-store-'));
  const connect = () => openEmbeddedStore(directory, { log: silentLog, clock: systemClock });
  const store = await connect();
  return {
    store,
    another: connect,
    compact: () => store.compact(),
    close: async () => {
      await store.close();
      fs.rmSync(directory, { recursive: true });
    },
  };
}

describeStore(
  'embedded',
  open,
  { describe, test, before: beforeAll, after: afterAll },
  {
    lacks: ['interruption', 'lost answers'],
  },
);
