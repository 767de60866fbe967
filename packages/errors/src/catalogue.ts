/**
 * Every coded error of Podwire: what it means, what to do, and the CNI error code a runtime sees
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
    meaning: 'A CNI request has a missing or malformed parameter.',
    action: 'The message names the parameter and the rule; this is a fault of the calling runtime.',
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
    meaning: 'The network namespace of the pod does not exist (any more).',
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
    action: 'Start one with `podwire up FILE` or `podwire podlet`, or name its socket with --socket.',
    cni: 11,
  },
  POD_UNKNOWN: {
    meaning: 'The pod agent knows no pod of that name.',
    action: '`podwire ps` lists the pods; a name in another namespace is NAMESPACE/NAME.',
    cni: 3,
  },
  POD_NOT_RUNNING: {
    meaning: 'What was asked for needs a running container, and the pod has none (any more).',
    action: '`podwire ps` says what the pod is waiting for; `podwire logs --previous` shows why it ended.',
    cni: 11,
  },
  NETWORK_NOT_READY: {
    meaning: 'No CNI network can be used on this node (yet), so pods cannot get one.',
    action:
      '`podwire net explain` says which configuration files were looked at and what is wrong with each.',
    cni: 11,
  },
  NETWORK_ATTACH_FAILED: {
    meaning: 'A CNI plugin could not attach a sandbox; what was done was taken back.',
    action: 'The message has the plugin and its own words; the pod is tried again by itself.',
    cni: 11,
  },
  NETWORK_DETACH_FAILED: {
    meaning: 'A CNI plugin could not detach a sandbox; its addresses may still be taken.',
    action: 'The message has the plugin and its own words; stopping the pod is tried again by itself.',
    cni: 11,
  },
  VOLUME_UNAVAILABLE: {
    meaning: 'A volume of a pod cannot be made available.',
    action: 'Correct the volume that the message names, or make its source exist; the pod is tried again.',
    cni: 7,
  },
  CONTAINER_CONFIG_INVALID: {
    meaning: 'A container cannot be configured as its pod says.',
    action: 'Correct the field that the message names, or add the ConfigMap it refers to.',
    cni: 7,
  },
  IMAGE_UNAVAILABLE: {
    meaning: 'The image of a container is not there and cannot be had.',
    action:
      'Check the image name, the pull policy and the credentials; the pull is tried again with growing pauses.',
    cni: 11,
  },
  ENDPOINT_UNKNOWN: {
    meaning: 'No endpoint of this container and interface exists on this node.',
    action: 'Nothing was wired, or it was removed already; ADD it again.',
    cni: 3,
  },
  ENDPOINT_EXISTS: {
    meaning: 'The endpoint exists already and differs from what is asked for.',
    action: 'DEL it first; a runtime must not ADD one attachment twice.',
    cni: 4,
  },
  ENDPOINT_DRIFTED: {
    meaning: 'CHECK found that something the endpoint needs is missing or changed.',
    action: 'See `podwire explain`; the next reconcile repairs what can be repaired.',
    cni: 101,
  },
  TRACE_UNKNOWN: {
    meaning: 'The agent keeps no trace of such a request.',
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
    meaning: 'A host port is taken by another pod on this node.',
    action: 'Choose another host port; the message names the pod that has it.',
    cni: 103,
  },
  KERNEL_REFUSED: {
    meaning: 'The kernel refused a change; everything the request had changed was taken back.',
    action: 'The message has the resource, the errno and the kernel’s own words.',
    cni: 104,
  },
  RECORD_IO: {
    meaning: 'An endpoint record could not be written, read or removed.',
    action: 'Check free space and permissions of stateDir.',
    cni: 5,
  },
  REMOVE_INCOMPLETE: {
    meaning: 'Some resources could not be removed; the record is kept so that it is tried again.',
    action: 'The message lists each one; DEL again, or let the periodic reconcile finish.',
    cni: 105,
  },
  AGENT_NOT_READY: {
    meaning: 'The agent is starting, stopping or cannot do its work.',
    action: 'Try again; `podwire status` says why.',
    cni: 50,
  },
  AGENT_RUNNING: {
    meaning: 'Another agent works on the same sockets or the same state directory.',
    action: 'Stop it first, or give this one its own `socket`, `apiSocket` and `stateDir`.',
    cni: 11,
  },
  CALLER_REFUSED: {
    meaning: 'The process at the other end of the socket is neither root nor the agent’s own user.',
    action: 'Call the plugin as root, as container runtimes do.',
    cni: 106,
  },
  AGENT_UNREACHABLE: {
    meaning: 'Nobody answers at the agent’s socket.',
    action:
      'Start the agent (`podwire agent`), or say where it listens: `socket` in the network configuration, `--socket` or `--config` for `podwire`.',
    cni: 11,
  },
  DEADLINE_EXCEEDED: {
    meaning: 'A step took longer than its deadline.',
    action: 'The message names the step; look at the trace of the request.',
    cni: 11,
  },
  INSTALL_REFUSED: {
    meaning:
      'A file that the installer would replace or remove was not written by Podwire, or was changed since.',
    action: 'Look at the file that the message names; with `--force` it is replaced or removed.',
    cni: 5,
  },
  INSTALL_FAILED: {
    meaning: 'The plugin or its network configuration could not be installed or removed.',
    action:
      'The message names the file and the reason: not built, no permission, no space, not executable there.',
    cni: 5,
  },
  MANIFEST_INVALID: {
    meaning: 'A pod manifest has a field that cannot be used.',
    action: 'Correct the field that the message names, with its file and line.',
    cni: 7,
  },
  PRIVILEGE_MISSING: {
    meaning: 'The command needs rights that the user does not have.',
    action: 'Run it as root.',
    cni: 5,
  },
  PREREQUISITE_MISSING: {
    meaning: 'A program or file that the command needs is not there.',
    action:
      'The message says what is missing and where it comes from; in a checkout, `npm run setup` brings everything.',
    cni: 5,
  },
  INTERNAL: {
    meaning: 'A defect in Podwire.',
    action: 'Please report it with the log line of the request.',
    cni: 999,
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
