import path from 'node:path';
import {
  createProcessExec,
  createRuntime,
  type Exec,
  type NetworkConfig,
  parseNetwork,
  type Runtime,
  type RuntimeOptions,
} from '@podwire/cni';
import type { TestNamespace } from './namespaces.js';
import type { PrivateHost } from './private-host.js';

/**
 * A container runtime of the host: real plugin executables, started inside the host's namespace as a runtime of that
 * machine would start them, with a cache below the host's directory.
 */
export function createHostRuntime(
  host: PrivateHost,
  options: Omit<RuntimeOptions, 'exec' | 'cacheDir'>,
): Runtime {
  return createRuntime({
    durable: false,
    ...options,
    cacheDir: path.join(host.directory, 'cni'),
    exec: execInside(host.namespace),
  });
}

/**
 * A fork inherits the namespace of the calling thread, so only the start must happen inside. One attempt: the repetition
 * after ETXTBSY would happen outside.
 */
function execInside(namespace: TestNamespace): Exec {
  const exec = createProcessExec({ busyAttempts: 1 });
  return {
    find: (type, directories) => exec.find(type, directories),
    run: async (call) => namespace.inside(() => ({ exit: exec.run(call) })).exit,
  };
}

/** A network of plugin objects, as a `.conflist` file holds it. */
export function networkOf(name: string, cniVersion: string, plugins: readonly object[]): NetworkConfig {
  return parseNetwork(JSON.stringify({ cniVersion, name, plugins }));
}
