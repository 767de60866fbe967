import type { CommandModule } from './command.js';

/** A sub-command as the overview shows it. Its module is loaded only when it is asked for. */
export interface CatalogEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandModule>;
}

const node = 'The node:';
const look = 'Look:';
const pods = 'Pods:';
const run = 'Run pods:';
const objects = 'Policies and other objects:';
const cluster = 'The cluster:';
const more = 'More:';

/** A package of its own that builds on this one; the name in a variable keeps it out of the dependencies. */
async function loadDemo(): Promise<CommandModule> {
  const name: string = '@podwire/demo';
  return (await import(name)) as CommandModule;
}

export const catalog: readonly CatalogEntry[] = [
  {
    name: 'up',
    summary: 'run the pods of manifests on this machine',
    group: run,
    load: () => import('./commands/up.js'),
  },
  {
    name: 'down',
    summary: 'remove them, or single pods',
    group: run,
    load: () => import('./commands/down.js'),
  },
  {
    name: 'ps',
    summary: 'running pods, and what each waits for',
    group: run,
    load: () => import('./commands/ps.js'),
  },
  {
    name: 'describe',
    summary: 'all that is known of a pod or object, and why a pod is not ready',
    group: run,
    load: () => import('./commands/describe.js'),
  },
  {
    name: 'events',
    summary: 'what happened to pods',
    group: run,
    load: () => import('./commands/events.js'),
  },
  {
    name: 'logs',
    summary: 'the log of a container',
    group: run,
    load: () => import('./commands/logs.js'),
  },
  {
    name: 'exec',
    summary: 'run a program in a container',
    group: run,
    load: () => import('./commands/exec.js'),
  },
  {
    name: 'attach',
    summary: 'join this terminal to the program of a container',
    group: run,
    load: () => import('./commands/attach.js'),
  },
  {
    name: 'cp',
    summary: 'copy files to and from a container',
    group: run,
    load: () => import('./commands/cp.js'),
  },
  {
    name: 'stats',
    summary: 'processors, memory, processes and network of pods',
    group: run,
    load: () => import('./commands/stats.js'),
  },
  {
    name: 'stop',
    summary: 'end pods, and keep them stopped',
    group: run,
    load: () => import('./commands/stop.js'),
  },
  {
    name: 'restart',
    summary: 'restart the containers of pods, or begin a stopped pod anew',
    group: run,
    load: () => import('./commands/restart.js'),
  },
  { name: 'rm', summary: 'remove pods by name', group: run, load: () => import('./commands/rm.js') },
  {
    name: 'port-forward',
    summary: 'forward a port of this machine to a pod',
    group: run,
    load: () => import('./commands/port-forward.js'),
  },
  { name: 'agent', summary: 'run the node agent', group: node, load: () => import('./commands/agent.js') },
  { name: 'podlet', summary: 'run the pod agent', group: node, load: () => import('./commands/podlet.js') },
  {
    name: 'sandbox',
    summary: 'serve the Container Runtime Interface over Docker Engine',
    group: node,
    load: () => import('./commands/sandbox.js'),
  },
  {
    name: 'install',
    summary: 'install the plugin and the network configuration',
    group: node,
    load: () => import('./commands/plugin-install.js'),
  },
  {
    name: 'uninstall',
    summary: 'remove them, and restore the node',
    group: node,
    load: () => import('./commands/plugin-uninstall.js'),
  },
  {
    name: 'status',
    summary: 'whether the agent is ready, and its attachments',
    group: look,
    load: () => import('./commands/status.js'),
  },
  {
    name: 'dashboard',
    summary: 'a web page of nodes, pods, addresses and errors, live',
    group: look,
    load: () => import('./commands/dashboard.js'),
  },
  { name: 'pods', summary: 'the pods of this node', group: look, load: () => import('./commands/pods.js') },
  {
    name: 'ipam',
    summary: 'pools, blocks and allocations; check, release, split, migrate',
    group: look,
    load: () => import('./commands/ipam.js'),
  },
  {
    name: 'peers',
    summary: 'the other nodes of the cluster, and problems of the path to them',
    group: look,
    load: () => import('./commands/peers.js'),
  },
  {
    name: 'bgp',
    summary: 'the BGP sessions of this node',
    group: look,
    load: () => import('./commands/bgp.js'),
  },
  {
    name: 'policy',
    summary: 'which policies are in force, and what they say',
    group: look,
    load: () => import('./commands/policy.js'),
  },
  {
    name: 'apply',
    summary: 'create and change policies and other objects from files',
    group: objects,
    load: () => import('./commands/apply.js'),
  },
  {
    name: 'get',
    summary: 'objects of a kind, or single ones',
    group: objects,
    load: () => import('./commands/get.js'),
  },
  {
    name: 'delete',
    summary: 'delete objects, by files or by name',
    group: objects,
    load: () => import('./commands/delete.js'),
  },
  {
    name: 'diff',
    summary: 'what apply would change',
    group: objects,
    load: () => import('./commands/diff.js'),
  },
  {
    name: 'pool',
    summary: 'pools of addresses that the nodes of a cluster share',
    group: cluster,
    load: () => import('./commands/pool.js'),
  },
  {
    name: 'nodes',
    summary: 'the nodes of a cluster: ready or not, their blocks and addresses',
    group: cluster,
    load: () => import('./commands/nodes.js'),
  },
  {
    name: 'workload',
    summary: 'static addresses, pools and sticky addresses for the pods of a workload',
    group: cluster,
    load: () => import('./commands/workload.js'),
  },
  {
    name: 'controller',
    summary: 'release blocks and addresses of nodes that are gone',
    group: cluster,
    load: () => import('./commands/controller.js'),
  },
  {
    name: 'netmaster',
    summary: 'run a master of the model tenant, with the flags of Contiv',
    group: cluster,
    load: () => import('./commands/netmaster.js'),
  },
  {
    name: 'import',
    summary: "take over another system's pools, blocks and addresses",
    group: cluster,
    load: () => import('./commands/import.js'),
  },
  {
    name: 'explain',
    summary: 'compare the records of a pod with the kernel; what fields of objects mean',
    group: look,
    load: () => import('./commands/explain.js'),
  },
  {
    name: 'trace',
    summary: 'what a request did, stage by stage',
    group: look,
    load: () => import('./commands/trace.js'),
  },
  {
    name: 'flows',
    summary: 'the flows of a bridge of Open vSwitch, and what they are for',
    group: look,
    load: () => import('./commands/flows.js'),
  },
  {
    name: 'packet',
    summary: 'the way of a packet through a bridge, and what becomes of it',
    group: look,
    load: () => import('./commands/packet.js'),
  },
  {
    name: 'ovn',
    summary: 'the logical network of Kube-OVN: who is in it, and the way of a packet',
    group: look,
    load: () => import('./commands/ovn.js'),
  },
  {
    name: 'net',
    summary: 'which CNI network pods get, and why',
    group: look,
    load: () => import('./commands/net.js'),
  },
  {
    name: 'plan',
    summary: 'what a pod would get, without changing anything',
    group: pods,
    load: () => import('./commands/plan.js'),
  },
  {
    name: 'reconcile',
    summary: 'compare the node with its records and repair it now',
    group: node,
    load: () => import('./commands/reconcile.js'),
  },
  {
    name: 'cni',
    summary: 'add, del, check, gc and status of any CNI network, as cnitool does',
    group: pods,
    load: () => import('./commands/cni.js'),
  },
  {
    name: 'service',
    summary: 'run both agents under systemd',
    group: node,
    load: () => import('./commands/service.js'),
  },
  {
    name: 'config',
    summary: 'check a configuration file, or load it again',
    group: node,
    load: () => import('./commands/config.js'),
  },
  {
    name: 'demo',
    summary: 'run it on a private host: three pods, real packets, nothing left behind',
    group: more,
    load: loadDemo,
  },
  {
    name: 'testbed',
    summary: 'a cluster on this machine: nodes in namespaces, a real etcd, pods',
    group: more,
    load: () => import('./commands/testbed.js'),
  },
  {
    name: 'connectivity',
    summary: 'send packets between all pods and nodes of a testbed',
    group: more,
    load: () => import('./commands/connectivity.js'),
  },
  {
    name: 'bench',
    summary: 'compare the speed of Podwire and other CNI plugins',
    group: more,
    load: () => import('./commands/bench.js'),
  },
  {
    name: 'completion',
    summary: 'completion for bash, zsh and fish',
    group: more,
    load: () => import('./commands/completion.js'),
  },
  {
    name: 'version',
    summary: 'versions of this program and of the agent',
    group: more,
    load: () => import('./commands/version.js'),
  },
];
