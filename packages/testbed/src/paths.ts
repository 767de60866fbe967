/** File paths of a testbed, all below one directory of mode 0700. */
import path from 'node:path';

/** On a tmpfs: a testbed does not survive a reboot, and etcd does not wait for a disk. */
export const parentDirectory = '/run/podwire-testbed';

export interface Paths {
  readonly directory: string;
  readonly record: string;
  /** Held while the record is changed. */
  readonly lock: string;
  /** Where network namespaces are pinned. */
  readonly namespace: (name: string) => string;
  readonly podNamespace: (namespace: string, name: string) => string;
  /** etcd's data, or the embedded store itself. */
  readonly store: string;
  readonly storeLog: string;
  /** Of OVN's central part: sockets, databases, logs. */
  readonly ovnRunDir: string;
  /** The last result of `podwire connectivity test`. */
  readonly connectivity: string;
  readonly node: (name: string) => NodePaths;
}

export interface NodePaths {
  readonly directory: string;
  readonly config: string;
  readonly log: string;
  readonly socket: string;
  readonly apiSocket: string;
  readonly stateDirectory: string;
  /** Cache of the CNI runtime. */
  readonly cniCache: string;
  /** Of its Open vSwitch: sockets, database, logs. */
  readonly ovsRunDir: string;
}

export function pathsOf(name: string): Paths {
  return pathsBelow(path.join(parentDirectory, name));
}

export function pathsBelow(directory: string): Paths {
  const at = (...parts: readonly string[]): string => path.join(directory, ...parts);
  return {
    directory,
    record: at('testbed.json'),
    lock: at('testbed.lock'),
    namespace: (name) => at('ns', name),
    podNamespace: (namespace, name) => at('ns', 'pods', `${namespace}_${name}`),
    store: at('store'),
    storeLog: at('store.log'),
    ovnRunDir: at('ovn'),
    connectivity: at('connectivity.json'),
    node: (name) => pathsOfNode(at('nodes', name)),
  };
}

const pathsOfNode = (directory: string): NodePaths => ({
  directory,
  config: path.join(directory, 'agent.yaml'),
  log: path.join(directory, 'agent.log'),
  socket: path.join(directory, 'cni.sock'),
  apiSocket: path.join(directory, 'api.sock'),
  stateDirectory: path.join(directory, 'state'),
  cniCache: path.join(directory, 'cni'),
  ovsRunDir: path.join(directory, 'ovs'),
});
