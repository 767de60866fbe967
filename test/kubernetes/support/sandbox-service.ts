import path from 'node:path';
import type { PluginDirectories, PrivateHost, RunningProcess } from '@podwire/testkit';
import { pauseImage } from '@podwire/testkit/containerd';

export const podwire = path.resolve(import.meta.dirname, '../../../../bin/podwire');

export interface SandboxService {
  readonly socket: string;
  readonly directory: string;
  log(): string;
  /** SIGKILL, and waits for the end. */
  kill9(): Promise<void>;
  start(): Promise<void>;
}

export interface ServiceOptions {
  readonly network: PluginDirectories;
  /** Docker Engine's; the embedded runtime when absent. */
  readonly dockerSocket?: string;
}

/** `podwire sandbox` inside the host, as a machine's service manager would start it. */
export async function startSandboxService(
  host: PrivateHost,
  { network, dockerSocket }: ServiceOptions,
): Promise<SandboxService> {
  const directory = path.join(host.directory, 'podwire');
  const socket = path.join(host.directory, 'cri.sock');
  const runtime =
    dockerSocket === undefined
      ? ['--runtime', 'embedded']
      : ['--runtime', 'docker', '--docker-socket', dockerSocket, '--sandbox-image', pauseImage];
  const argv = [
    ...[process.execPath, podwire, 'sandbox', '--directory', directory, '--listen', socket, ...runtime],
    ...['--cni-conf-dir', network.confDir, '--cni-bin-dir', network.binDir],
  ];
  let earlier = '';
  let current: RunningProcess;
  const written = (): string => (current === undefined ? '' : current.stdout() + current.stderr());
  const start = async (): Promise<void> => {
    if (current !== undefined) earlier += written();
    current = host.start(argv);
    await current.waitForOutput(/"msg":"ready"/);
  };
  await start();
  return {
    socket,
    directory,
    log: () => earlier + written(),
    start,
    kill9: async () => {
      current.kill('SIGKILL');
      await current.exited;
    },
  };
}
