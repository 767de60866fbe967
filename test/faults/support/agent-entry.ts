/**
 * The agent as a process that ends at fault points: what `podwire agent` is, with orders from a test.
 *
 *   node agent-entry.js --config FILE
 *
 * `PODWIRE_FAULTS` is the directory of orders. `PODWIRE_SINGLE=1`: every resource is a step of its own.
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { createLog, loadConfig, type RecordFiles, startNodeAgent } from '@podwire/agent';
import type { FaultPoints } from '@podwire/engine';
import { executeInjections } from '@podwire/testkit/fault-injection';

/** Also a file is written, renamed and unlinked by steps; a write may stop halfway. */
function faultyFiles(faults: FaultPoints): RecordFiles {
  return {
    ...fs,
    writeFileSync(file, data, options) {
      faults.reach('file:write');
      if (typeof data !== 'string') throw new TypeError('records are text');
      fs.writeFileSync(file, data.slice(0, data.length / 2), options);
      faults.reach('file:half-written');
      fs.writeFileSync(file, data, options);
      faults.reach('file:written');
    },
    renameSync(from, to) {
      faults.reach('file:rename');
      fs.renameSync(from, to);
    },
    unlinkSync(file) {
      faults.reach('file:unlink');
      fs.unlinkSync(file);
    },
  };
}

const { values } = parseArgs({ options: { config: { type: 'string' } } });
const config = loadConfig(values.config);
const log = createLog({ level: config.log.level, nodeName: config.nodeName });
const faults = executeInjections(process.env['PODWIRE_FAULTS'] ?? '');
const agent = await startNodeAgent(config, {
  log,
  faults,
  single: process.env['PODWIRE_SINGLE'] === '1',
  recordFiles: faultyFiles(faults),
});
process.once('SIGTERM', () => {
  agent.stop().catch((error: unknown) => {
    log.error({ err: error }, 'could not stop');
    process.exitCode = 1;
  });
});
await agent.ready;
log.info('ready');
