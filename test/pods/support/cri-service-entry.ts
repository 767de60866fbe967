/**
 * A runtime of ours behind a CRI socket, as `podwire sandbox` serves it, that ends at fault points.
 *
 *   node cri-service-entry.js --config FILE
 *
 * `PODWIRE_FAULTS` is the directory of orders; without it there are none.
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { serveCri } from '@podwire/cri';
import { executeInjections } from '@podwire/testkit/fault-injection';
import type { CriServiceConfig } from './entry-config.js';
import { openRuntime } from './open-runtime.js';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
// A bare `node --test` runs every file below a folder named test.
if (values.config === undefined) throw new Error('cri-service-entry needs --config FILE; tests start it');
const config = JSON.parse(fs.readFileSync(values.config, 'utf8')) as CriServiceConfig;
const orders = process.env['PODWIRE_FAULTS'];
const opened = await openRuntime(
  config,
  orders === undefined ? { reach: () => undefined } : executeInjections(orders),
);
const server = await serveCri(opened.runtime, { socket: config.socket });
process.stdout.write('{"msg":"ready"}\n');
await new Promise((resolve) => process.once('SIGTERM', resolve));
await server.close(1_000);
await opened.close();
