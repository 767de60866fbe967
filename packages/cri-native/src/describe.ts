import { CgroupDriver, type RuntimeConfigResponse, StatusResponse, type VersionResponse } from '@podwire/cri';
import type { Context } from './context.js';

export const describeVersion = (): VersionResponse => ({
  version: '0.1.0',
  runtimeName: 'podwire-embedded',
  runtimeVersion: '0.1.0',
  runtimeApiVersion: 'v1',
});

export const usesCgroupfs: RuntimeConfigResponse = { linux: { cgroupDriver: CgroupDriver.CGROUPFS } };

/** Purpose and limits of this runtime, shown in its verbose status. */
const purpose =
  'for trying Podwire out and for tests: no images, no limits of CPU and memory, no seccomp or AppArmor profiles';

export function describeRuntime(context: Context, verbose: boolean): Promise<StatusResponse> {
  const network = context.network.status();
  const info = {
    purpose,
    directory: context.directory,
    pause: context.pauseProgram,
    sandboxes: String(context.inventory.sandboxes.size),
    containers: String(context.inventory.containers.size),
  };
  return Promise.resolve(
    StatusResponse.fromPartial({
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true, reason: '', message: purpose },
          {
            type: 'NetworkReady',
            status: network.ready,
            reason: network.reason,
            message: network.message,
          },
        ],
      },
      info: verbose ? info : {},
      runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    }),
  );
}
