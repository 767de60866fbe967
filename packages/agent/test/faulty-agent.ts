/**
 * An agent that dies or finds its disk full where a test wants it. The command line is that of `podwire agent`; what to
 * do stands in the environment, which the real agent never looks at:
 *
 * - `FAULT_FROM=POINT`: points count from the first time that this one is reached
 * - `FAULT_ONLY=PATTERN`: instead, only points that match count, from the start
 * - `FAULT_LOG=FILE`: the name of every point that counts is appended to the file
 * - `FAULT_AT=N`: the process kills itself at the N-th point that counts, the first being 1
 * - `FAULT_DISK_FULL=FILE`: as long as the file is there, endpoint records cannot be written
 * - `PODWIRE_FAULTS=DIRECTORY`: orders that a test gives while the agent runs, see the fault injection of testkit
 * - `FAULT_SINGLE=1`: every resource travels alone, so that there are points between all of them
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';
import type { RecordFiles } from '../src/records/directory.js';
import { type FaultPoints, noFaults } from '@podwire/engine';
import { executeInjections } from '@podwire/testkit/fault-injection';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
if (values.config === undefined) {
  // A bare `node --test` runs every file below a folder named test. Without a configuration this would be an agent with
  // the defaults, in the network namespace of the machine itself.
  throw new Error('faulty-agent needs --config FILE; it is started by tests, inside a private host');
}
const { FAULT_FROM, FAULT_ONLY, FAULT_LOG, FAULT_AT, FAULT_DISK_FULL, FAULT_SINGLE, PODWIRE_FAULTS } =
  process.env;
const orders = PODWIRE_FAULTS === undefined ? noFaults : executeInjections(PODWIRE_FAULTS);

let count = 0;
const faults: FaultPoints = {
  reach(point) {
    orders.reach(point);
    const counts =
      FAULT_ONLY === undefined ? count > 0 || point === FAULT_FROM : new RegExp(FAULT_ONLY).test(point);
    if (!counts) return;
    count += 1;
    if (FAULT_LOG !== undefined) fs.appendFileSync(FAULT_LOG, `${point}\n`);
    if (count === Number(FAULT_AT)) process.kill(process.pid, 'SIGKILL');
  },
};

const recordFiles: RecordFiles = {
  ...fs,
  writeFileSync: ((file: fs.PathOrFileDescriptor, data: string, options?: fs.WriteFileOptions) => {
    if (FAULT_DISK_FULL !== undefined && fs.existsSync(FAULT_DISK_FULL)) {
      // Half of it gets there, as when the last block is full.
      fs.writeFileSync(file, data.slice(0, data.length / 2), options);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    fs.writeFileSync(file, data, options);
  }) as typeof fs.writeFileSync,
};

await runAgent(loadConfig(values.config), { faults, recordFiles, single: FAULT_SINGLE === '1' });
