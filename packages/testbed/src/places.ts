/** Where the files of a testbed are: all below one directory, which only root may enter. */
import path from 'node:path';

/** On a tmpfs: a testbed does not outlive the boot, and etcd need not wait for a disk. */
export const parentDirectory = '/run/podwire-testbed';

export interface Places {
  readonly directory: string;
  readonly record: string;
  /** Where network namespaces are pinned. */
  readonly namespace: (name: string) => string;
  readonly podNamespace: (namespace: string, name: string) => string;
  /** etcd's data, or the embedded store itself. */
  readonly store: string;
  readonly storeLog: string;
  readonly node: (name: string) => NodePlaces;
}

export interface NodePlaces {
  readonly directory: string;
  readonly config: string;
  readonly log: string;
  readonly socket: string;
  readonly apiSocket: string;
  readonly stateDirectory: string;
  /** What the CNI runtime remembers. */
  readonly cniCache: string;
}

export function placesOf(name: string): Places {
  return placesBelow(path.join(parentDirectory, name));
}

export function placesBelow(directory: string): Places {
  const at = (...parts: readonly string[]): string => path.join(directory, ...parts);
  return {
    directory,
    record: at('testbed.json'),
    namespace: (name) => at('ns', name),
    podNamespace: (namespace, name) => at('ns', 'pods', `${namespace}_${name}`),
    store: at('store'),
    storeLog: at('store.log'),
    node: (name) => placesOfNode(at('nodes', name)),
  };
}

const placesOfNode = (directory: string): NodePlaces => ({
  directory,
  config: path.join(directory, 'agent.yaml'),
  log: path.join(directory, 'agent.log'),
  socket: path.join(directory, 'cni.sock'),
  apiSocket: path.join(directory, 'api.sock'),
  stateDirectory: path.join(directory, 'state'),
  cniCache: path.join(directory, 'cni'),
});
