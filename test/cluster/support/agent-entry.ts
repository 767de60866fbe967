/**
 * The program `podwire agent`, with orders from a test:
 *
 *   node agent-entry.js --config FILE
 *
 * `PODWIRE_FAULTS` is the directory of orders; without it there are none. The file `wall` in it says how many milliseconds the
 * wall clock is ahead; it is read at SIGUSR2.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';
import { noFaults } from '@podwire/engine';
import { executeInjections } from '@podwire/testkit/fault-injection';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
// A bare `node --test` runs every file below a folder named test: that must not become an agent on the machine itself.
if (values.config === undefined) throw new Error('it is started by tests, with --config FILE');
const { PODWIRE_FAULTS: orders } = process.env;
if (orders !== undefined) {
  // A time namespace has monotonic clocks of its own and no wall clock (time_namespaces(7)).
  const realNow = Date.now;
  let ahead = 0;
  Date.now = () => realNow() + ahead;
  process.on('SIGUSR2', () => (ahead = Number(fs.readFileSync(path.join(orders, 'wall'), 'utf8'))));
}
await runAgent(loadConfig(values.config), {
  faults: orders === undefined ? noFaults : executeInjections(orders),
});
