/** The runtime of the pod agent: one of ours in this process, or a CRI socket. */
import path from 'node:path';
import type { CriRuntime } from '@podwire/cri';
import type { PodNetwork } from '@podwire/pod-network';
import { compact, type Log } from '@podwire/platform';
import type { Tracer } from '@podwire/tracing';
import { checkoutFile } from '../checkout.js';
import type { RuntimeSettings } from './settings.js';

export interface OpenRuntime {
  readonly runtime: CriRuntime;
  /** Absent where the runtime sees to networks itself. */
  readonly network?: PodNetwork;
  close(): Promise<void>;
}

/** @throws CriError when no server answers on the socket; PodwireError when a runtime does not start */
export async function openRuntime(settings: RuntimeSettings, tracer: Tracer, log: Log): Promise<OpenRuntime> {
  if (settings.runtime !== 'embedded' && settings.runtime !== 'docker') return connect(settings);
  const { createPodNetwork } = await import('@podwire/pod-network');
  const { configDirectory, pluginPath, name, stateDirectory } = settings.network;
  const network = await createPodNetwork({
    configDirectory,
    pluginPath,
    stateDirectory,
    tracer,
    log,
    ...compact({ network: name }),
  });
  try {
    const opened = settings.runtime === 'docker' ? openDocker : openEmbedded;
    const { runtime, close } = await opened(settings, network, tracer, log);
    return { runtime, network, close: () => close().finally(() => network.close()) };
  } catch (error) {
    await network.close();
    throw error;
  }
}

async function connect({ runtime: socket }: RuntimeSettings): Promise<OpenRuntime> {
  const { connectCri } = await import('@podwire/cri');
  const connection = await connectCri({ socket });
  return { runtime: connection, close: () => Promise.resolve(connection.close()) };
}

type Opened = Pick<OpenRuntime, 'runtime' | 'close'>;

async function openDocker(
  { directory, dockerSocket, sandboxImage, takeOverFrom, network: { stateDirectory } }: RuntimeSettings,
  network: PodNetwork,
  tracer: Tracer,
  log: Log,
): Promise<Opened> {
  const [{ createSandboxService }, { adoptAttachments }] = await Promise.all([
    import('@podwire/cri-docker'),
    import('@podwire/pod-network'),
  ]);
  const service = await createSandboxService({
    docker: dockerSocket,
    root: path.join(directory, 'docker'),
    network,
    tracer,
    log,
    ...compact({ sandboxImage }),
    ...(takeOverFrom === undefined
      ? {}
      : { takeOver: (id: string) => adoptAttachments(id, takeOverFrom, stateDirectory) }),
  });
  return { runtime: service, close: () => service.close() };
}

async function openEmbedded(
  { directory }: RuntimeSettings,
  network: PodNetwork,
  tracer: Tracer,
  log: Log,
): Promise<Opened> {
  const { createNativeRuntime } = await import('@podwire/cri-native');
  const runtime = await createNativeRuntime({
    directory: path.join(directory, 'embedded'),
    network,
    pauseProgram: checkoutFile('bin/podwire-hold'),
    tracer,
    log,
  });
  return { runtime, close: () => runtime.close() };
}
