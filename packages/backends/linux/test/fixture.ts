import { nodeResources, podResources } from '../src/fake/index.js';
import { createLinuxBackends, createUplinkBackend, openKernel } from '../src/index.js';
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type NamespaceIdentity,
  type Owned,
} from '@podwire/engine';
import { createPrivateHost, type PrivateHost, type TestNamespace } from '@podwire/testkit';
import { openNamespace } from '@podwire/linux';

export { call } from './call.js';

/** A private host with an engine that takes it for the node. */
export interface EngineHost {
  readonly host: PrivateHost;
  readonly engine: Engine;
  /** Another engine on the same host, as after a restart. */
  restart(options?: Partial<EngineOptions>): Engine;
  close(): Promise<void>;
}

export async function createEngineHost(name: string): Promise<EngineHost> {
  const host = await createPrivateHost({ name });
  const engines: Engine[] = [];
  const start = (options: Partial<EngineOptions> = {}): Engine => {
    const kernel = openKernel(host.namespace);
    const backends = [...createLinuxBackends(kernel), createUplinkBackend(kernel)];
    const engine = createEngine({ backends, ...options });
    engines.push(engine);
    return engine;
  };
  return {
    host,
    engine: start(),
    restart: start,
    async close() {
      await Promise.allSettled(engines.map(async (engine) => engine.close()));
      await host.close();
    },
  };
}

export function identify(namespace: TestNamespace): NamespaceIdentity {
  const handle = openNamespace(namespace.path);
  const { path, device, inode } = handle;
  handle.close();
  return { path, device, inode };
}

export function endpointOf(namespace: TestNamespace, n: number): Owned {
  return { owner: `endpoint:${n}`, resources: podResources(n), namespace: identify(namespace) };
}

export const node: Owned = { owner: 'node', resources: nodeResources };
