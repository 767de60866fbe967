import { modelErrors } from './model-errors.js';

/**
 * Every coded error of Podwire with its meaning, the action to take, and the CNI error code that a runtime sees
 * (CNI specification 1.1.0, "Error"). `docs/errors.md` is generated from this table.
 */
export interface CatalogueEntry {
  readonly meaning: string;
  /** Advice, when one fits each situation of the code. The others give their own with the error, or none. */
  readonly action?: string;
  /** CNI error code; see the specification's table. 100 and above are Podwire's own. */
  readonly cni: number;
}

export const errorCatalogue = {
  CONFIG_INVALID: {
    meaning: 'The agent configuration or a network configuration has a field that cannot be used.',
    cni: 7,
  },
  REQUEST_INVALID: {
    meaning: 'A command or a request has a missing or malformed parameter, or one that does not fit here.',
    cni: 4,
  },
  CONFIRMATION_MISSING: {
    meaning: 'The command would disturb running pods, and was not told to go on all the same.',
    cni: 999,
  },
  REQUEST_TOO_LARGE: {
    meaning: 'A request exceeds the size or depth limit.',
    action: 'Shorten the network configuration of the runtime, or the arguments that it adds.',
    cni: 6,
  },
  NAMESPACE_GONE: {
    meaning: 'The network namespace of the pod does not exist, or no longer exists.',
    action:
      'None if the pod has just ended: its runtime makes a new sandbox. In a call by hand, check the path.',
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
    meaning: 'There is no pod of that name.',
    action: '`podwire ps` lists the pods; a name in another namespace is NAMESPACE/NAME.',
    cni: 3,
  },
  POD_NOT_RUNNING: {
    meaning: 'The request needs a running container, and the pod has none.',
    action: '`podwire describe pod/NAME` says what the pod waits for.',
    cni: 11,
  },
  NETWORK_NOT_READY: {
    meaning: 'No CNI network can be used on this node, so pods cannot be attached.',
    action: '`podwire net explain` lists the configuration files that were read and the problem of each.',
    cni: 11,
  },
  NETWORK_ATTACH_FAILED: {
    meaning: 'A CNI plugin could not attach a sandbox; its changes were rolled back.',
    action: 'Correct what the plugin complains about; the pod agent tries again by itself.',
    cni: 11,
  },
  NETWORK_DETACH_FAILED: {
    meaning: 'A CNI plugin could not detach a sandbox; its addresses may still be in use.',
    action: 'Correct what the plugin complains about; stopping the pod is tried again by itself.',
    cni: 11,
  },
  VOLUME_UNAVAILABLE: {
    meaning: 'A volume of a pod cannot be made available.',
    action: 'Correct the volume in the manifest, or create its source; the pod agent tries again by itself.',
    cni: 7,
  },
  CONTAINER_CONFIG_INVALID: {
    meaning: 'A container cannot be configured as its pod specifies.',
    cni: 7,
  },
  IMAGE_UNAVAILABLE: {
    meaning: 'The image of a container is not present and cannot be pulled.',
    action:
      'Check the image name, the pull policy and the credentials; the pull is tried again after a while.',
    cni: 11,
  },
  ENDPOINT_UNKNOWN: {
    meaning: 'No endpoint of this container and interface exists on this node.',
    cni: 3,
  },
  ENDPOINT_EXISTS: {
    meaning: 'The endpoint exists already and differs from the request.',
    action: 'DEL it first; a runtime must not ADD one attachment twice.',
    cni: 4,
  },
  ENDPOINT_DRIFTED: {
    meaning: 'CHECK found that a resource of the endpoint is missing or changed.',
    action: '`podwire explain NAME --drift` shows the difference, and `podwire reconcile` repairs it now.',
    cni: 101,
  },
  TRACE_UNKNOWN: {
    meaning: 'The agent has no trace of this request.',
    action: '`podwire trace last --list` has the requests that are kept; `limits.traces` sets how many.',
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
    action: 'Choose another address, or wait until this one is free.',
    cni: 102,
  },
  ADDRESS_NOT_IN_POOL: {
    meaning: 'A requested address is in no pool that this node may use, or in a reserved range.',
    action: 'Choose an address that a pod may have: `podwire ipam show` lists the pools.',
    cni: 7,
  },
  PORT_IN_USE: {
    meaning: 'A host port is used by another pod on this node.',
    action: 'Choose another host port, or remove the pod that has this one.',
    cni: 103,
  },
  KERNEL_REFUSED: {
    meaning: 'The kernel refused a change; all changes of the request were rolled back.',
    cni: 104,
  },
  PROJECT_UNKNOWN: {
    meaning: 'The namespace of a pod has no VNID yet, so it is not known whom the pod may reach.',
    action:
      'None if the namespace is new: the runtime tries again. Otherwise look whether it has a NetNamespace, and whether the controller that makes these runs.',
    cni: 11,
  },
  BACKEND_SILENT: {
    meaning:
      'A part of the system that Podwire changes (a database, a switch, a program) did not answer in time. Everything else goes on.',
    action: 'Look whether it runs. The next reconcile tries again; ADD and DEL can be repeated.',
    cni: 11,
  },
  RESOURCE_CIRCLE: {
    meaning:
      'Resources of one list need each other in a circle, so none of them can come first. Nothing of the list was changed.',
    action:
      'Let `after` of one of the kinds on the circle name less: docs/decisions/0067. Where all of them are of Podwire, please report it.',
    cni: 999,
  },
  POD_ROUTE_TAKEN: {
    meaning:
      'A route that ADD made inside a pod was replaced by one through another of its links. The new route is left in place.',
    action:
      'Nothing if this is intended (a VPN in the pod, a default route through another network). Otherwise delete the route inside the pod; the next reconcile restores ours.',
    cni: 107,
  },
  ROW_TAKEN: {
    meaning:
      'A row that must be in a database (a bridge, a port, a queue of Open vSwitch; a switch or a port of OVN) has the name of one that Podwire has not made, or goes only together with such a row. That one is left as it is.',
    action:
      'Rename or delete the other row (`ovs-vsctl list Port NAME`, `ovn-nbctl list Logical_Switch_Port NAME`: ours has the mark `podwire` in `external_ids`); the next reconcile makes ours.',
    cni: 110,
  },
  FLOW_TAKEN: {
    meaning:
      'A flow or group that must be on a bridge of Open vSwitch has the table, priority and match, or the number, of one that Podwire has not made; or a flow of others sends to a group that is to go. That one is left as it is.',
    action:
      'Change or delete the other one (`ovs-ofctl -O OpenFlow14 dump-flows BRIDGE`: cookies of ours begin with 0x706f6477); the next reconcile makes ours.',
    cni: 111,
  },
  PORT_REFUSED: {
    meaning:
      'Open vSwitch could not make a port, or has given it another number than the one that its flows are for. The pod is not attached.',
    action:
      'Look at `ovs-vsctl --columns=name,ofport,ofport_request,error list Interface`: another port may have asked for the number. Delete that one; the next ADD or reconcile makes ours.',
    cni: 112,
  },
  PORT_NOT_INSTALLED: {
    meaning:
      'The flows of a pod’s port are not in Open vSwitch (`external_ids:ovn-installed`): ovn-controller has not put them in, or has taken them out again. Packets of the pod are lost.',
    action:
      'Look for the `iface-id` in OVN: `ovn-nbctl list Logical_Switch_Port ID` shows if the controller has made the port, `ovn-sbctl find Port_Binding logical_port=ID` if another chassis has it. Otherwise look whether ovn-controller runs, and into its log.',
    cni: 11,
  },
  NEIGHBOUR_SILENT: {
    meaning:
      'A neighbour that a pod needs, mostly its gateway, did not answer ARP (IPv4) or neighbour discovery (IPv6). The pod is not attached.',
    action:
      'Look whether something has this address: the gateway of the subnet, or the router of the underlay and the VLAN that leads to it. `ip neighbour` in the pod shows what the kernel knows.',
    cni: 11,
  },
  SWITCH_UNAVAILABLE: {
    meaning:
      'A bridge of Open vSwitch cannot be asked for its flows, or ovs-vswitchd for the way of a packet: there is no socket, the bridge does not speak OpenFlow 1.4, or nothing answers. Nothing was changed.',
    action: 'Look into the log of ovs-vswitchd, and try again.',
    cni: 999,
  },
  RECORD_IO: {
    meaning: 'An endpoint record could not be written, read or removed.',
    action: 'Check the free space and the permissions of its directory.',
    cni: 5,
  },
  RECORD_TOO_NEW: {
    meaning: 'Endpoint records were written by a newer version, which this one does not understand.',
    action: 'Start the version that wrote them. To go back for good, drain the node first (docs/upgrade.md).',
    cni: 109,
  },
  REMOVE_INCOMPLETE: {
    meaning: 'Some resources could not be removed; the record is kept for another attempt.',
    action: 'None at first: it is tried again by itself.',
    cni: 105,
  },
  AGENT_NOT_READY: {
    meaning: 'The agent is starting, stopping or cannot work.',
    action: 'Try again in a moment; `podwire status` shows what the agent waits for.',
    cni: 50,
  },
  POD_LABELS_UNKNOWN: {
    meaning: 'A policy selects pods of the namespace by labels, and the labels of the pod are not known.',
    action:
      'None if the runtime tries again by itself. Else pass the labels with the request (`args.cni.labels`), or let the pod agent start the pod.',
    cni: 11,
  },
  AGENT_RUNNING: {
    meaning: 'Another agent uses the same sockets or the same state directory.',
    action: 'Stop the other one first.',
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
    action: 'None, unless it happens often: then find out why the runtime ends its plugins.',
    cni: 11,
  },
  AGENT_UNREACHABLE: {
    meaning: 'The agent does not answer on its socket.',
    action:
      'Start the agent (`podwire agent`), or say where it listens: `--socket` or `--config`; in a network configuration, `socket`.',
    cni: 11,
  },
  DEADLINE_EXCEEDED: {
    meaning: 'A step took longer than its deadline.',
    cni: 11,
  },
  INSTALL_REFUSED: {
    meaning:
      'A file that the installer would replace or remove was not written by Podwire, or was changed since then.',
    action: 'Look at the file first; `--force` replaces or removes it all the same.',
    cni: 5,
  },
  INSTALL_FAILED: {
    meaning: 'The plugin or its network configuration could not be installed or removed.',
    cni: 5,
  },
  STORE_UNAVAILABLE: {
    meaning:
      'The store did not answer in time, or could not be reached. A write may or may not have taken effect.',
    action:
      'Check that the store runs and can be reached from here. Pods keep working, and nodes go on with the blocks they have.',
    cni: 11,
  },
  STORE_DENIED: {
    meaning: 'The store refused the credentials, or they lack the required permission.',
    action: 'Check user, password or token file, certificate, and the permissions below the configured root.',
    cni: 5,
  },
  STORE_FULL: {
    meaning: 'The store accepts no more data.',
    cni: 11,
  },
  STORE_CONFLICT: {
    meaning: 'The object was changed concurrently.',
    action: 'Try again.',
    cni: 11,
  },
  STORE_LEASE_LOST: {
    meaning: 'A lease has ended, and its objects were deleted.',
    action:
      'The holder registers again; if it happens often, the machine or the store is too slow for the lease’s duration.',
    cni: 11,
  },
  OBJECT_UNKNOWN: {
    meaning: 'There is no object of this kind and name.',
    action: '`podwire get KIND` lists what is there; a name in another namespace is NAMESPACE/NAME.',
    cni: 3,
  },
  OBJECT_CONFLICT: {
    meaning: 'An object was changed by another writer after this one had read it. Nothing was written.',
    action: 'Read the object again (`podwire get`), make the change on what it is now, and apply it again.',
    cni: 11,
  },
  OBJECT_IN_USE: {
    meaning: 'An object cannot be deleted while others need it. Nothing was changed.',
    action: 'Delete those first. IP objects go with their pods: `podwire get ips` shows them.',
    cni: 7,
  },
  OBJECT_INVALID: {
    meaning: 'An object does not fit its kind, or cannot be read.',
    action: 'Correct or delete the object. Until then its previous version stays in force.',
    cni: 7,
  },
  OBJECT_TOO_NEW: {
    meaning: 'An object in the store was written by a newer Podwire.',
    action: 'Use the version of Podwire that wrote it, or a newer one.',
    cni: 7,
  },
  NODE_NAME_TAKEN: {
    meaning: 'Another agent is alive and registered under this node’s name.',
    action: 'Give each node a `nodeName` of its own, or stop the other agent.',
    cni: 11,
  },
  NODE_FENCED: {
    meaning: 'The node was disconnected from the store for so long that another node may own its blocks now.',
    action: 'None: pods keep working, and addresses are assigned again as soon as the store answers.',
    cni: 11,
  },
  NODE_STATE_STALE: {
    meaning:
      'The node’s state is older than the cluster’s: blocks that it lists as its own belong to other nodes.',
    action: 'Re-create these pods: their addresses may be in use elsewhere. New pods get other addresses.',
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
    cni: 3,
  },
  POOL_IN_USE: {
    meaning: 'The pool cannot be deleted or changed like this: its addresses or blocks are in use.',
    cni: 7,
  },
  POOL_INVALID: {
    meaning: 'The requested pool is not valid.',
    cni: 7,
  },
  MTU_MISMATCH: {
    meaning: 'A link between nodes cannot carry packets as large as pods may send.',
    action: 'Give the network a smaller `mtu`, or the links between the nodes a larger one.',
    cni: 999,
  },
  PLAN_CONFLICT: {
    meaning:
      'Two plans need different things at one place of the kernel; the one that comes first by name has it.',
    action: 'Correct or delete one of the nodes that it names.',
    cni: 999,
  },
  PLAN_FAILED: {
    meaning:
      'Something that a network model plans on the node could not be planned or applied; the rest is served.',
    action:
      'Correct the object or the configuration that it is planned from. It is tried again at each reconcile.',
    cni: 11,
  },
  ...modelErrors,
  BGP_REFUSED: {
    meaning: 'The BGP daemon refused its configuration or does not answer.',
    action: 'Look into the log of BIRD. Routes that were exchanged before stay until it ends.',
    cni: 999,
  },
  IMPORT_INVALID: {
    meaning: 'A dump of another system’s datastore cannot be read or imported.',
    action: 'Repair the dump and import it again. Nothing was written.',
    cni: 999,
  },
  TESTBED_FAILED: {
    meaning: 'A testbed did not start, does not exist, or is not in its expected state.',
    cni: 999,
  },
  DASHBOARD_FAILED: {
    meaning: 'The dashboard cannot listen at the address and port that were asked for.',
    cni: 999,
  },
  MANIFEST_INVALID: {
    meaning: 'A manifest of pods or objects has a field that cannot be used.',
    cni: 7,
  },
  PRIVILEGE_MISSING: {
    meaning: 'The command needs privileges that the user does not have.',
    cni: 5,
  },
  PREREQUISITE_MISSING: {
    meaning: 'A program or file that the command needs is missing.',
    cni: 5,
  },
  INTERNAL: {
    meaning: 'A bug in Podwire.',
    action: 'Please report it, with the log of the agent or what `--debug` adds.',
    cni: 999,
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
