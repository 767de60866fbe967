import type { FakeSystem } from '@podwire/backend-linux/fake';
import type { NamespaceIdentity } from '@podwire/engine';
import type { Namespaces } from '../../src/node/namespaces.js';

/** Namespaces of a kernel in memory: one for each path, made when it is asked for. */
export function namespacesOf(system: FakeSystem): Namespaces {
  const identities = new Map<string, NamespaceIdentity>();
  return {
    identify(path) {
      const identity = identities.get(path) ?? system.addPod(path);
      identities.set(path, identity);
      return identity;
    },
    isGone: () => false,
  };
}
