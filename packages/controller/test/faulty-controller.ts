/** A controller of OVN that dies where a test wants it (fault injection of testkit): PLACES ORDERS, as JSON and as a directory. */
import { silentLog, systemClock } from '@podwire/platform';
import type { StoreSpec } from '@podwire/store';
import { executeInjections } from '@podwire/testkit/fault-injection';
import { runOvnController } from '../src/index.js';

interface Places {
  readonly store: StoreSpec;
  readonly northbound: readonly string[];
}

const [places, orders] = process.argv.slice(2);
// A bare `node --test` runs every file below a folder named test.
if (places === undefined || orders === undefined)
  throw new Error('it is started by tests, with two arguments');

await runOvnController(
  {
    ...(JSON.parse(places) as Places),
    ...{ root: '/podwire', name: `c/${process.pid}`, ttl: 10_000, clock: systemClock, log: silentLog },
    faults: executeInjections(orders),
  },
  new AbortController().signal,
);
