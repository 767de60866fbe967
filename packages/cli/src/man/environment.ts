/** Files and variables that all commands use and no command declares. */

export const environment: readonly (readonly [string, string])[] = [
  ['PODWIRE_DIRECTORY', 'the directory of the pod agent, as `--directory`'],
  ['PODWIRE_SOCKET', "the node agent's API socket, as `--socket`"],
  ['PODWIRE_STORE', 'the store of a cluster, as `--store`'],
  ['PODWIRE_ROOT', 'what the keys of the store begin with, as `--root`'],
  ['PODWIRE_TESTBED', 'the name of the testbed that is meant'],
  ['PODWIRE_LOG_LEVEL', 'how much pod agent, controller and CRI service log: `trace` to `fatal`'],
  ['NO_COLOR', 'when it is set and not empty: no colours'],
];

export const files: readonly (readonly [string, string])[] = [
  ['/run/podwire', 'sockets, records of endpoints, what `podwire up` has started; empty after a reboot'],
  ['/run/podwire/api.sock', "the node agent's API"],
  ['/var/lib/podwire', 'volumes, checkpoints, manifests that were added, what CNI has attached'],
  ['/var/log/pods', 'logs of containers'],
  [
    '/etc/cni/net.d',
    'the network configuration that `podwire install` writes; another directory with its option',
  ],
  ['/opt/cni/bin', 'the CNI plugin that `podwire install` copies'],
];
