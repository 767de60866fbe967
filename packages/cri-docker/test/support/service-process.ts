/**
 * The sandbox service with its network behind a CRI socket, as a process of its own that dies where a test wants it. The
 * configuration is a file; what to do stands in the environment:
 *
 * - `FAULT_LOG=FILE`: the name of every point that is reached is appended to the file
 * - `FAULT_AT=POINT`: the process kills itself when the point is reached
 */
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { serveCri } from '@podwire/cri';
import { adoptAttachments, createPodNetwork } from '@podwire/pod-network';
import { createSandboxService, type FaultPoints, type Log } from '@podwire/cri-docker';

export interface ServiceConfig {
  readonly socket: string;
  readonly docker: string;
  readonly root: string;
  readonly netnsDirectory: string;
  readonly sandboxImage: string;
  readonly credentials: string;
  readonly runTimeoutMs?: number;
  /** Adopt what others made, with what this directory of CNI's results has. */
  readonly takeOverFrom?: string | undefined;
  readonly cni: {
    readonly configDirectory: string;
    readonly pluginPath: readonly string[];
    readonly stateDirectory: string;
    readonly bootIdFile: string;
    readonly timeoutMs?: number;
  };
}

const { values } = parseArgs({ options: { config: { type: 'string' } } });
// A bare `node --test` runs every file below a folder named test.
if (values.config === undefined)
  throw new Error('service-process needs --config FILE; it is started by tests');
const config = JSON.parse(fs.readFileSync(values.config, 'utf8')) as ServiceConfig;
const { FAULT_LOG, FAULT_AT } = process.env;

const faults: FaultPoints = {
  reach(point) {
    if (FAULT_LOG !== undefined) fs.appendFileSync(FAULT_LOG, `${point}\n`);
    if (point === FAULT_AT) process.kill(process.pid, 'SIGKILL');
  },
};

const write = (level: string) => (fields: object, message: string) =>
  void process.stderr.write(
    `${JSON.stringify({ level, message, ...fields }, (_key, value: unknown) => (value instanceof Error ? value.message : value))}\n`,
  );
const log: Log = { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };

const network = await createPodNetwork({ ...config.cni, system: { bootIdFile: config.cni.bootIdFile }, log });
const { takeOverFrom } = config;
const service = await createSandboxService({
  ...config,
  ...(takeOverFrom === undefined
    ? {}
    : { takeOver: (id: string) => adoptAttachments(id, takeOverFrom, config.cni.stateDirectory) }),
  network,
  faults,
  log,
  credentials: { cwd: config.credentials, home: config.credentials, top: config.credentials },
});
const server = await serveCri(service, { socket: config.socket });
process.stdout.write('ready\n');

process.once('SIGTERM', () => {
  void (async () => {
    await server.close(1_000);
    await service.close();
    await network.close();
    process.stdout.write(`locks ${service.heldLocks}\n`);
    process.exit(0);
  })();
});
