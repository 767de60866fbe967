import { CgroupDriver as CriDriver, type CriRuntime, isCriError } from '@podwire/cri';
import type { CgroupDriver } from './names.js';

/**
 * Finds the cgroup driver of the runtime: RuntimeConfig tells. containerd 1.6 and others of its time lack that call; containerd shows its
 * configuration in a verbose status. @returns undefined where nothing tells. @throws CriError when the runtime does not answer
 */
export async function findCgroupDriver(
  runtime: Pick<CriRuntime, 'runtimeConfig' | 'status'>,
  signal: AbortSignal,
): Promise<CgroupDriver | undefined> {
  try {
    const { linux } = await runtime.runtimeConfig({}, { signal });
    if (linux !== undefined) return linux.cgroupDriver === CriDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (!isCriError(error, 'UNIMPLEMENTED')) throw error;
  }
  const { info } = await runtime.status({ verbose: true }, { signal });
  return readContainerdConfig(info['config']);
}

/** As far as it is of interest here; runtimes of a name have options of their own. */
interface ContainerdConfig {
  readonly systemdCgroup?: boolean;
  readonly containerd?: {
    readonly defaultRuntimeName?: string;
    readonly runtimes?: Readonly<
      Record<string, { readonly options?: { readonly SystemdCgroup?: boolean } | null }>
    >;
  };
}

export function readContainerdConfig(text: string | undefined): CgroupDriver | undefined {
  const config = parse(text);
  if (config?.containerd === undefined) return undefined;
  const { defaultRuntimeName = 'runc', runtimes = {} } = config.containerd;
  const isSystemd = runtimes[defaultRuntimeName]?.options?.SystemdCgroup ?? config.systemdCgroup ?? false;
  return isSystemd ? 'systemd' : 'cgroupfs';
}

function parse(text: string | undefined): ContainerdConfig | undefined {
  try {
    return JSON.parse(text ?? '') as ContainerdConfig;
  } catch {
    return undefined;
  }
}
