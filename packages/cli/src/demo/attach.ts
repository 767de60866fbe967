/** Pods attached as a container runtime does it: the CNI runtime library starts the plugin's executable. */
import path from 'node:path';
import {
  type AttachmentParameters,
  createProcessExec,
  createRuntime,
  type Exec,
  type NetworkConfig,
  parseNetwork,
  type Runtime,
} from '@podwire/cni';
import { type PodManifest, toCniInputs } from '../manifest.js';
import { renderConflist } from '../commands/install-conflist.js';
import type { DemoNamespace } from './namespaces.js';

export interface DemoRuntime {
  /** @returns milliseconds from before the plugin's start until it has ended. @throws CniError */
  add(pod: PodManifest, netns: string): Promise<number>;
  /** @returns as `add`. @throws CniError */
  del(pod: PodManifest, netns: string): Promise<number>;
}

export interface DemoRuntimeOptions {
  readonly node: DemoNamespace;
  /** Part of the containers' ids. */
  readonly name: string;
  readonly directory: string;
  readonly pluginDirectory: string;
  /** The agent's, for plugins. */
  readonly socket: string;
  readonly signal: AbortSignal;
}

export function createDemoRuntime(options: DemoRuntimeOptions): DemoRuntime {
  const { node, name, directory, pluginDirectory, socket, signal } = options;
  let spent = 0;
  const runtime: Runtime = createRuntime({
    pluginPath: [pluginDirectory],
    cacheDir: path.join(directory, 'cni-cache'),
    rollback: true,
    durable: false,
    exec: execInside(node),
    observer: { pluginFinished: ({ durationMs }) => (spent += durationMs) },
  });
  const network: NetworkConfig = parseNetwork(renderConflist({ name: 'podwire', socket }));
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    spent = 0;
    await work();
    return spent;
  };
  const describe = (pod: PodManifest, netns: string): AttachmentParameters => {
    const containerId = `${name}-${pod.name}`;
    return { containerId, interfaceName: 'eth0', netns, ...toCniInputs(pod, containerId) };
  };
  return {
    add: (pod, netns) => timed(() => runtime.add(network, describe(pod, netns), { signal })),
    // Not with the demo's signal: what was attached is detached also after Ctrl-C.
    del: (pod, netns) => timed(() => runtime.del(network, describe(pod, netns), { timeoutMs: 10_000 })),
  };
}

/**
 * A fork inherits the namespace of the calling thread, so only the start must happen inside. One attempt: a repetition
 * would happen outside.
 */
function execInside(node: DemoNamespace): Exec {
  const exec = createProcessExec({ busyAttempts: 1 });
  return {
    find: (type, directories) => exec.find(type, directories),
    run: async (call) => node.inside(() => ({ exit: exec.run(call) })).exit,
  };
}
