import { NamespaceMode, type NamespaceOption, type PodSandboxConfig } from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { HostConfig } from '../docker/index.js';

/** True if a sandbox uses the machine's own network: nothing is set up for it then. */
export function usesHostNetwork(config: PodSandboxConfig): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

type Modes = Pick<HostConfig, 'NetworkMode' | 'IpcMode' | 'PidMode'>;

/** How Docker makes the namespaces of a sandbox. `none` is an empty network namespace, which CNI fills. */
export function sandboxModes(options: NamespaceOption | undefined): Modes {
  return {
    NetworkMode: options?.network === NamespaceMode.NODE ? 'host' : 'none',
    IpcMode: options?.ipc === NamespaceMode.NODE ? 'host' : 'shareable',
    ...(options?.pid === NamespaceMode.NODE ? { PidMode: 'host' } : {}),
  };
}

/** How a container joins its sandbox. */
export function containerModes(
  sandboxId: string,
  options: NamespaceOption | undefined,
  hostNetwork: boolean,
): Modes & Pick<HostConfig, 'UTSMode'> {
  const pid = pidMode(sandboxId, options);
  return {
    NetworkMode: `container:${sandboxId}`,
    IpcMode: `container:${sandboxId}`,
    ...compact({ PidMode: pid }),
    ...(hostNetwork ? { UTSMode: 'host' } : {}),
  };
}

function pidMode(sandboxId: string, options: NamespaceOption | undefined): string | undefined {
  switch (options?.pid) {
    case NamespaceMode.POD:
      return `container:${sandboxId}`;
    case NamespaceMode.NODE:
      return 'host';
    case NamespaceMode.TARGET:
      return `container:${options.targetId}`;
    default:
      return undefined;
  }
}

/** Translates Docker's modes into the words of the interface. */
export function namespaceOptionsOf({ NetworkMode, IpcMode, PidMode }: Modes): NamespaceOption {
  const mode = (text: string | undefined): NamespaceMode =>
    text === 'host' ? NamespaceMode.NODE : NamespaceMode.POD;
  return {
    network: mode(NetworkMode),
    ipc: mode(IpcMode),
    pid: PidMode === 'host' ? NamespaceMode.NODE : NamespaceMode.CONTAINER,
    targetId: '',
  };
}
