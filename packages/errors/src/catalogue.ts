/**
 * Every coded error of Podwire with its meaning, the action to take, and the CNI error code that a runtime sees
 * (CNI specification 1.1.0, "Error"). `docs/errors.md` is generated from this table.
 */
export interface CatalogueEntry {
  readonly meaning: string;
  readonly action: string;
  /** CNI error code; see the specification's table. 100 and above are Podwire's own. */
  readonly cni: number;
}

export const errorCatalogue = {
  CONFIG_INVALID: {
    meaning: 'The agent configuration or a network configuration has a field that cannot be used.',
    action: 'Correct the field that the message names; docs/configuration.md lists every field.',
    cni: 7,
  },
  REQUEST_INVALID: {
    meaning: 'A command or a request has a missing or malformed parameter, or one that does not fit here.',
    action:
      'The message names it and the rule. Correct what you typed or sent; in a CNI request it is a fault of the runtime.',
    cni: 4,
  },
  REQUEST_TOO_LARGE: {
    meaning: 'A request exceeds the size or depth limit.',
    action: 'Keep network configurations below 1 MiB and 32 levels.',
    cni: 6,
  },
  REQUEST_UNDECODABLE: {
    meaning: 'The bytes on standard input are no valid JSON document.',
    action: 'Check the configuration list that the runtime loaded.',
    cni: 6,
  },
  VERSION_INCOMPATIBLE: {
    meaning: 'The configuration asks for a CNI version that Podwire does not speak.',
    action: 'Use one of the supported versions that the message lists.',
    cni: 1,
  },
  NAMESPACE_GONE: {
    meaning: 'The network namespace of the pod does not exist, or no longer exists.',
    action: 'The sandbox has died; the runtime should create a new one.',
    cni: 3,
  },
  NAMESPACE_INVALID: {
    meaning: 'The given path is not a network namespace, or is the host’s own.',
    action: 'Pass the path of a network namespace of its own, such as /run/netns/NAME.',
    cni: 8,
  },
  PODLET_UNREACHABLE: {
    meaning: 'No pod agent answers on the socket.',
    action: 'Start one with `podwire up FILE` or `podwire podlet`, or name its directory with --directory.',
    cni: 11,
  },
  POD_UNKNOWN: {
    meaning: 'The pod agent knows no pod of that name.',
    action: '`podwire ps` lists the pods; a name in another namespace is NAMESPACE/NAME.',
    cni: 3,
  },
  POD_NOT_RUNNING: {
    meaning: 'The request needs a running container, and the pod has none.',
    action: '`podwire ps` shows why the pod is waiting; `podwire logs --previous` shows why it ended.',
    cni: 11,
  },
  NETWORK_NOT_READY: {
    meaning: 'No CNI network can be used on this node, so pods cannot be attached.',
    action: '`podwire net explain` lists the configuration files that were read and the problem of each.',
    cni: 11,
  },
  NETWORK_ATTACH_FAILED: {
    meaning: 'A CNI plugin could not attach a sandbox; its changes were rolled back.',
    action: 'The message names the plugin and its error; the pod is retried automatically.',
    cni: 11,
  },
  NETWORK_DETACH_FAILED: {
    meaning: 'A CNI plugin could not detach a sandbox; its addresses may still be in use.',
    action: 'The message names the plugin and its error; stopping the pod is retried automatically.',
    cni: 11,
  },
  VOLUME_UNAVAILABLE: {
    meaning: 'A volume of a pod cannot be made available.',
    action:
      'Correct the volume that the message names, or create its source; the pod is retried automatically.',
    cni: 7,
  },
  CONTAINER_CONFIG_INVALID: {
    meaning: 'A container cannot be configured as its pod specifies.',
    action: 'Correct the field that the message names, or add the ConfigMap it refers to.',
    cni: 7,
  },
  IMAGE_UNAVAILABLE: {
    meaning: 'The image of a container is not present and cannot be pulled.',
    action: 'Check the image name, the pull policy and the credentials; the pull is retried with back-off.',
    cni: 11,
  },
  ENDPOINT_UNKNOWN: {
    meaning: 'No endpoint of this container and interface exists on this node.',
    action: 'It was never added, or was removed already; ADD it again.',
    cni: 3,
  },
  ENDPOINT_EXISTS: {
    meaning: 'The endpoint exists already and differs from the request.',
    action: 'DEL it first; a runtime must not ADD one attachment twice.',
    cni: 4,
  },
  ENDPOINT_DRIFTED: {
    meaning: 'CHECK found that a resource of the endpoint is missing or changed.',
    action: 'See `podwire explain`; the next reconcile repairs it where possible.',
    cni: 101,
  },
  TRACE_UNKNOWN: {
    meaning: 'The agent has no trace of this request.',
    action:
      'See `podwire trace last --list`: only the latest requests since the start of the agent are kept (`limits.traces`).',
    cni: 4,
  },
  POOL_EXHAUSTED: {
    meaning: 'No free address is left in any pool the pod may use.',
    action:
      'Add a pool, shrink its reserved ranges, remove pods, or wait for cooling addresses; `podwire ipam show` has the numbers.',
    cni: 11,
  },
  ADDRESS_IN_USE: {
    meaning: 'A requested address belongs to another endpoint or is cooling down.',
    action: 'Choose another address or wait; the message names the owner.',
    cni: 102,
  },
  ADDRESS_NOT_IN_POOL: {
    meaning: 'A requested address lies in no pool of the network, or in a reserved range.',
    action: 'Request an address of a configured pool; the message names the pools.',
    cni: 7,
  },
  PORT_IN_USE: {
    meaning: 'A host port is used by another pod on this node.',
    action: 'Choose another host port; the message names the pod that uses it.',
    cni: 103,
  },
  KERNEL_REFUSED: {
    meaning: 'The kernel refused a change; all changes of the request were rolled back.',
    action: 'The message has the resource, the errno and the kernel’s message.',
    cni: 104,
  },
  POD_ROUTE_TAKEN: {
    meaning:
      'A route that ADD made inside a pod was replaced by one through another of its links. The new route is left in place.',
    action:
      'Nothing if this is intended (a VPN in the pod, a default route through another network). Otherwise delete the route inside the pod; the next reconcile restores ours.',
    cni: 107,
  },
  RECORD_IO: {
    meaning: 'An endpoint record could not be written, read or removed.',
    action: 'Check free space and permissions of stateDir.',
    cni: 5,
  },
  REMOVE_INCOMPLETE: {
    meaning: 'Some resources could not be removed; the record is kept for another attempt.',
    action: 'The message lists each one; DEL again, or let the periodic reconcile finish.',
    cni: 105,
  },
  AGENT_NOT_READY: {
    meaning: 'The agent is starting, stopping or cannot work.',
    action: 'Try again; `podwire status` says why.',
    cni: 50,
  },
  AGENT_RUNNING: {
    meaning: 'Another agent uses the same sockets or the same state directory.',
    action: 'Stop it first, or give this one its own `socket`, `apiSocket` and `stateDir`.',
    cni: 11,
  },
  CALLER_REFUSED: {
    meaning: 'The process at the other end of the socket is neither root nor the agent’s own user.',
    action: 'Call the plugin as root, as container runtimes do.',
    cni: 106,
  },
  CALLER_GONE: {
    meaning:
      'The plugin ended before it read its answer: it was killed, or its runtime timed out. An ADD is rolled back; a DEL stays done.',
    action: 'None here; if it happens often, find out why the runtime ends its plugins.',
    cni: 11,
  },
  AGENT_UNREACHABLE: {
    meaning: 'The agent does not answer on its socket.',
    action:
      'Start the agent (`podwire agent`), or configure its socket: `socket` in the network configuration, `--socket` or `--config` for `podwire`.',
    cni: 11,
  },
  DEADLINE_EXCEEDED: {
    meaning: 'A step took longer than its deadline.',
    action: 'The message names the step; the trace of the request has the details.',
    cni: 11,
  },
  INSTALL_REFUSED: {
    meaning:
      'A file that the installer would replace or remove was not written by Podwire, or was changed since then.',
    action: 'Check the file that the message names; `--force` replaces or removes it.',
    cni: 5,
  },
  INSTALL_FAILED: {
    meaning: 'The plugin or its network configuration could not be installed or removed.',
    action:
      'The message names the file and the reason: not built, no permission, no space, not executable there.',
    cni: 5,
  },
  STORE_UNAVAILABLE: {
    meaning:
      'The store did not answer in time, or could not be reached. A write may or may not have taken effect.',
    action: 'Pods keep working and nodes go on with the blocks they own; check the endpoints in the message.',
    cni: 11,
  },
  STORE_DENIED: {
    meaning: 'The store refused the credentials, or they lack the required permission.',
    action: 'Check user, password or token file, certificate, and the permissions below the configured root.',
    cni: 5,
  },
  STORE_FULL: {
    meaning: 'The store accepts no more data.',
    action:
      'For etcd: compact, defragment and disarm the alarm, or raise its quota. Nodes go on with the blocks they own.',
    cni: 11,
  },
  STORE_CONFLICT: {
    meaning: 'The object was changed concurrently.',
    action: 'Read it again and retry; commands do so a few times on their own.',
    cni: 11,
  },
  STORE_LEASE_LOST: {
    meaning: 'A lease has ended, and its objects were deleted.',
    action:
      'The holder registers again; if it happens often, the machine or the store is too slow for the lease’s duration.',
    cni: 11,
  },
  OBJECT_INVALID: {
    meaning: 'An object in the store cannot be read.',
    action:
      'The message names its key and field; correct or delete it. Until then the previous version stays in force.',
    cni: 7,
  },
  OBJECT_TOO_NEW: {
    meaning: 'An object in the store was written by a newer Podwire.',
    action: 'Update this node to the version of the others.',
    cni: 7,
  },
  NODE_NAME_TAKEN: {
    meaning: 'Another agent is alive and registered under this node’s name.',
    action: 'Give each node a `nodeName` of its own, or stop the other agent that the message names.',
    cni: 11,
  },
  NODE_FENCED: {
    meaning: 'The node was disconnected from the store for so long that another node may own its blocks now.',
    action: 'Pods keep working, but no address is assigned until the store answers again.',
    cni: 11,
  },
  NODE_STATE_STALE: {
    meaning:
      'The node’s state is older than the cluster’s: blocks that it lists as its own belong to other nodes.',
    action:
      'It assigns no address from them. Re-create the pods that the message names: their addresses may be in use elsewhere.',
    cni: 11,
  },
  NODE_ALIVE: {
    meaning: 'The blocks or addresses of a node cannot be released: its agent is connected to the store.',
    action:
      'Stop its agent first (`podwire nodes` shows it as unreachable then), or delete the pods that have the addresses.',
    cni: 999,
  },
  NODE_UNKNOWN: {
    meaning: 'No node of that name is registered.',
    action: '`podwire nodes` lists them.',
    cni: 3,
  },
  POOL_UNKNOWN: {
    meaning: 'There is no pool of that name.',
    action: '`podwire pool list` lists them.',
    cni: 3,
  },
  POOL_IN_USE: {
    meaning: 'The pool cannot be deleted or changed like this: its addresses or blocks are in use.',
    action: 'Disable it, wait until its pods have ended (`podwire ipam migrate` helps) and try again.',
    cni: 7,
  },
  POOL_INVALID: {
    meaning: 'The requested pool is not valid.',
    action: 'The message names the field and the rule.',
    cni: 7,
  },
  MTU_MISMATCH: {
    meaning: 'A link between nodes cannot carry packets as large as pods may send.',
    action: 'Give the network a smaller `mtu`, or the underlay a larger one; the message has the numbers.',
    cni: 999,
  },
  PLAN_CONFLICT: {
    meaning:
      'Two plans need different things at one place of the kernel; the one that comes first by name has it.',
    action:
      'The message names both: two nodes with one address or one block, say. Correct or delete one of them.',
    cni: 999,
  },
  BGP_REFUSED: {
    meaning: 'The BGP daemon refused its configuration or does not answer.',
    action: 'The message has its answer; routes exchanged before stay until the daemon ends.',
    cni: 999,
  },
  IMPORT_INVALID: {
    meaning: 'A dump of another system’s datastore cannot be read or imported.',
    action: 'The message names the object and the field. Nothing was written.',
    cni: 999,
  },
  TESTBED_FAILED: {
    meaning: 'A testbed did not start, does not exist, or is not in its expected state.',
    action: '`podwire testbed status` shows its parts; `podwire testbed down` removes them all.',
    cni: 999,
  },
  MANIFEST_INVALID: {
    meaning: 'A pod manifest has a field that cannot be used.',
    action: 'Correct the field that the message names, with its file and line.',
    cni: 7,
  },
  PRIVILEGE_MISSING: {
    meaning: 'The command needs privileges that the user does not have.',
    action: 'Run it as root.',
    cni: 5,
  },
  PREREQUISITE_MISSING: {
    meaning: 'A program or file that the command needs is missing.',
    action: 'The message names it and its source; in a checkout, `npm run setup` installs everything.',
    cni: 5,
  },
  INTERNAL: {
    meaning: 'A bug in Podwire.',
    action: 'Please report it with the log line of the request.',
    cni: 999,
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
