/** A runtime of ours with every place of it below a test's directory, and fault points. */
import path from 'node:path';
import { connectCri, type CriRuntime } from '@podwire/cri';
import { createNativeRuntime } from '@podwire/cri-native';
import { createPodNetwork } from '@podwire/pod-network';
import { createSandboxService } from '@podwire/cri-docker';
import type { FaultPoints } from '@podwire/platform';
import type { RuntimeConfig } from './entry-config.js';

const repository = path.resolve(import.meta.dirname, '../../../..');

/** JSON lines on standard error, for the end of a failed test's message. */
const write = (level: string) => (facts: object, message: string) =>
  void process.stderr.write(`${JSON.stringify({ level, message, ...facts }, showErrors)}\n`);
const showErrors = (_key: string, value: unknown): unknown => {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? String(value) : value;
};
export const log = {
  debug: () => undefined,
  info: write('info'),
  warn: write('warn'),
  error: write('error'),
};

export interface OpenRuntime {
  readonly runtime: CriRuntime;
  close(): Promise<void>;
}

export async function openRuntime(config: RuntimeConfig, faults: FaultPoints): Promise<OpenRuntime> {
  if (!['embedded', 'docker'].includes(config.runtime)) {
    const connection = await connectCri({ socket: config.runtime });
    return { runtime: connection, close: () => Promise.resolve(connection.close()) };
  }
  const { bootIdFile, netnsDirectory } = config;
  const network = await createPodNetwork({ ...config.network, log, system: { bootIdFile } });
  const runtime =
    config.runtime === 'docker'
      ? await createSandboxService({
          docker: config.dockerSocket ?? '',
          root: path.join(config.directory, 'docker'),
          ...(config.sandboxImage === undefined ? {} : { sandboxImage: config.sandboxImage }),
          ...{ network, netnsDirectory, faults, log },
        })
      : await createNativeRuntime({
          directory: path.join(config.directory, 'embedded'),
          pauseProgram: path.join(repository, 'bin/podwire-hold'),
          ...{ network, netnsDirectory, bootIdFile, faults, log },
        });
  return { runtime, close: () => runtime.close().finally(() => network.close()) };
}
