import type { Situations } from './situation.js';

/** On one machine: pods, agents, the kernel. */
export const nodeSituations = {
  CONFIG_INVALID: [
    {
      site: 'packages/agent/src/config/load.ts',
      message: '‹/etc/podwire/agent.yaml:3:3: networks.default.pools[0].cidr: no prefix›',
      action: 'docs/configuration.md describes each field; `podwire config validate` checks a file.',
    },
    {
      site: 'packages/cli/src/cluster/options.ts',
      message: '‹which store›: give --store URL, --config FILE of an agent in a cluster, or PODWIRE_STORE',
    },
    {
      site: 'packages/agent/src/endpoints/check.ts',
      message: 'prevResult: CHECK needs the result of ADD (CNI specification, section 2)',
    },
  ],
  REQUEST_INVALID: [
    {
      site: 'packages/cli/src/commands/port-forward.ts',
      message:
        'cannot listen at ‹127.0.0.1:8080›‹: listen EADDRINUSE: address already in use 127.0.0.1:8080›',
      action: 'Choose another local port, or :‹80› for any that is free.',
    },
    {
      site: 'packages/agent/src/api/routes.ts',
      message: 'this agent speaks no BGP: its configuration has no cluster.bgp',
      action: 'Nothing if no router is to know the pods; otherwise docs/bgp.md has the lines to add.',
    },
    {
      site: 'packages/cli/src/pods/names.ts',
      message: '‹web› may be any of ‹default/web shop/web›',
      action: 'Name one of them with its namespace.',
    },
    {
      site: 'packages/agent/src/endpoints/names.ts',
      message: 'CNI_ARGS ‹"K8S_POD_NAME": "web\\n"› holds control characters',
    },
    {
      site: 'packages/cli/src/packet/question.ts',
      message: 'no flow of bridge ‹br0› accepts packets from ‹10.128.2.9›',
      action:
        'Give the address of a pod of this node, or with --in-port the port that the packet comes from.',
    },
    {
      site: 'packages/cli/src/packet/question.ts',
      message: 'no flow of bridge ‹br0› accepts packets from ‹pod ›‹shop/db› (‹10.128.4.2›)‹ of n2›',
      action: 'Run the command on ‹n2›, or name with --in-port the port that the packet comes from.',
    },
  ],
  CONFIRMATION_MISSING: [
    {
      site: 'packages/cli/src/commands/nodes.ts',
      message:
        'node ‹n2› has reported ‹2 pods› (‹default/db, default/web›), which may still run: their addresses would be given to others',
      action: '`--yes` does it all the same.',
    },
    {
      site: 'packages/cli/src/commands/plugin-uninstall.ts',
      message: '‹2 pods run (default/db, default/web)›: without the plugin they cannot be taken down',
      action: '`--force` does it all the same.',
    },
  ],
  REQUEST_TOO_LARGE: [
    {
      site: 'packages/agent/src/server/connection.ts',
      message: 'the request is larger than ‹1048576› bytes',
    },
  ],
  NAMESPACE_GONE: [
    {
      site: 'packages/agent/src/node/namespaces.ts',
      message: 'there is no network namespace at ‹/run/netns/web›',
    },
    {
      site: 'packages/backends/linux/src/kernel.ts',
      message: 'the network namespace ‹/proc/4711/ns/net› is gone: ‹ENOENT: no such file or directory›',
    },
  ],
  NAMESPACE_INVALID: [
    {
      site: 'packages/agent/src/node/namespaces.ts',
      message: '‹/proc/1/ns/net› is the network namespace of the node itself',
    },
    {
      site: 'packages/agent/src/node/namespaces.ts',
      message: '‹/etc/hosts› is no network namespace',
    },
  ],
  ENDPOINT_UNKNOWN: [
    {
      site: 'packages/agent/src/api/routes.ts',
      message: 'no endpoint is called ‹wbe›',
      action: '`podwire ps` lists those of this node. A pod that was never attached has none.',
    },
    {
      site: 'packages/agent/src/endpoints/check.ts',
      message: 'container ‹4f1c…› has no interface ‹eth0› of network ‹podwire› on this node',
      action: 'ADD it again.',
    },
    {
      site: 'packages/agent/src/endpoints/pending-adds.ts',
      message: '‹podwire,4f1c…,eth0› was removed while its ADD waited for the cluster',
    },
  ],
  ENDPOINT_EXISTS: [
    {
      site: 'packages/ipam/src/refusals.ts',
      message: '‹podwire,4f1c…,eth0› holds ‹10.244.0.5› already, which is not what is asked for now',
    },
  ],
  ENDPOINT_DRIFTED: [
    {
      site: 'packages/agent/src/endpoints/check.ts',
      message: '‹default/web›: ‹route 10.244.0.5/32 is missing›',
    },
  ],
  TRACE_UNKNOWN: [
    { site: 'packages/agent/src/api/routes.ts', message: 'there is no trace ‹17› (any more)' },
    {
      site: 'packages/cli/src/commands/trace.ts',
      message: 'the agent remembers no ‹ADD›‹ of default/web›',
    },
  ],
  POOL_EXHAUSTED: [
    {
      site: 'packages/ipam/src/refusals.ts',
      message:
        'no free ‹IPv4› address‹: pool default-ipv4 (10.244.0.0/28) has 16 addresses, 12 used, 2 reserved, 2 cooling›',
    },
    {
      site: 'packages/agent/src/endpoints/plan-endpoint.ts',
      message: 'network ‹default› has no pool that is enabled and selects node ‹n1›',
      action: 'Add a pool, enable one of the network, or change a node selector.',
    },
  ],
  ADDRESS_IN_USE: [
    {
      site: 'packages/ipam/src/refusals.ts',
      message: '‹10.244.0.5› of pool ‹default-ipv4› belongs to ‹podwire,4f1c…,eth0›',
    },
    {
      site: 'packages/ipam/src/refusals.ts',
      message: '‹10.244.0.5› of pool ‹default-ipv4› was released and is cooling down, ‹free in 12 s›',
    },
    {
      site: 'packages/cluster-ipam/src/operations/release.ts',
      message: '‹10.244.0.5›: node ‹n2›, ‹which is up›, ‹reports it for default/web›',
      action:
        'Delete the pod first. Of a node that will not come back, release everything: `podwire nodes forget`.',
    },
    {
      site: 'packages/cluster-ipam/src/operations/workloads.ts',
      message: 'other pods have addresses of the workload: ‹10.244.0.5: default/web on node n1›',
      action: 'Choose others, or `--force`: its pods wait for the address until the other pod has ended.',
    },
  ],
  ADDRESS_NOT_IN_POOL: [
    {
      site: 'packages/ipam/src/refusals.ts',
      message: '‹1.2.3.4› cannot be given‹: ›it is in no pool (‹default-ipv4 10.244.0.0/16›)',
    },
    {
      site: 'packages/cluster-ipam/src/operations/workload-rules.ts',
      message: 'workload ‹default/db›: addresses: ‹1.2.3.4› is in no pool',
    },
    {
      site: 'packages/cluster-ipam/src/operations/workload-rules.ts',
      message: 'workload ‹default/db›: addresses: ‹10.244.0.1› is reserved in pool ‹web›',
    },
    {
      site: 'packages/cluster-ipam/src/provide.ts',
      message: '‹10.244.0.5› cannot be given: ‹its pool zone-a is for nodes with zone=a›',
    },
  ],
  PORT_IN_USE: [
    {
      site: 'packages/agent/src/endpoints/host-ports.ts',
      message: 'host port ‹8080/tcp› is taken by ‹default/web›',
    },
  ],
  NEIGHBOUR_SILENT: [
    {
      site: 'packages/backends/linux/src/rtnetlink/answers.ts',
      message:
        '‹10.16.0.1› has not answered on ‹eth0› of ‹ovn,4f1c…,eth0› for ‹30› s: ‹nothing has come back›',
    },
    {
      site: 'packages/backends/linux/src/rtnetlink/answers.ts',
      message:
        '‹fd00::1› has not answered on ‹eth0› of ‹ovn,4f1c…,eth0› for ‹30› s: ‹eth0 has no link-local address to ask from›',
    },
  ],
  KERNEL_REFUSED: [
    {
      site: 'packages/engine/src/refusal.ts',
      message: '‹podwire,4f1c…,eth0: create link pw4f1c: EEXIST (RTNETLINK answers: file exists)›',
    },
  ],
  BACKEND_SILENT: [
    { site: 'packages/engine/src/session-calls.ts', message: '‹nftables› has not answered for ‹15› s' },
    { site: 'packages/engine/src/call.ts', message: '‹nftables› has answered half of a question' },
    {
      site: 'packages/backends/ovsdb/src/errors.ts',
      message:
        'the database ‹Open_vSwitch› cannot be used: ‹NOT_SENT: no connection to unix:/run/openvswitch/db.sock within 10000 ms›',
    },
  ],
  RESOURCE_CIRCLE: [
    {
      site: 'packages/engine/src/order.ts',
      message:
        '‹port web of br0› needs ‹flow 7 of br0›, which needs ‹port web of br0›: none of them can come first',
    },
  ],
  POD_ROUTE_TAKEN: [
    {
      site: 'packages/backends/linux/src/rtnetlink/routes.ts',
      message: '‹route default in the pod goes through tun0›',
    },
  ],
  PROJECT_UNKNOWN: [
    {
      site: 'packages/networks/sdn/src/endpoint/attachment.ts',
      message: 'namespace ‹shop› has no VNID yet',
    },
  ],
  RECORD_TOO_NEW: [
    {
      site: 'packages/agent/src/recovery.ts',
      message: '‹podwire,4f1c…,eth0.ready and 3 more: a record of version 2›; this version reads version 1',
    },
  ],
  RECORD_IO: [
    {
      site: 'packages/agent/src/records/directory.ts',
      message: '‹cannot write /run/podwire/endpoints/podwire,4f1c…,eth0: ENOSPC: no space left on device›',
    },
    {
      site: 'packages/cri-docker/src/checkpoint/checkpoint.ts',
      message: '‹cannot write the checkpoint of sandbox 4f1c…: EROFS: read-only file system›',
    },
  ],
  REMOVE_INCOMPLETE: [
    {
      site: 'packages/engine/src/change.ts',
      message: '‹podwire,4f1c…,eth0: link pw4f1c: EBUSY›',
    },
    {
      site: 'packages/podlet/src/sync/sync-pod.ts',
      message: 'Pod ‹default/web› still has something in the runtime.',
    },
  ],
  AGENT_NOT_READY: [
    { site: 'packages/agent/src/endpoints/context.ts', message: 'the agent is starting' },
    { site: 'packages/agent/src/cluster/joining.ts', message: 'the agent is joining its cluster' },
    {
      site: 'packages/agent/src/server/cni-server.ts',
      message: 'more than ‹64› requests at once',
    },
    {
      site: 'packages/agent/src/policy/node-policy.ts',
      message:
        'the policies of ‹directory /etc/podwire/objects› have not been read yet, and no pod is added without them',
    },
  ],
  POD_LABELS_UNKNOWN: [
    {
      site: 'packages/agent/src/policy/inputs/label-gate.ts',
      message:
        '‹pod shop/web›: its labels are not known, and policies of the namespace ‹shop› select pods by labels',
    },
  ],
  AGENT_RUNNING: [
    {
      site: 'packages/agent/src/own-node.ts',
      message: 'another agent uses ‹/run/podwire›',
      action: 'Stop the other one first, or give this one its own `stateDir`, `socket` and `apiSocket`.',
    },
    {
      site: 'packages/agent/src/own-node.ts',
      message: 'another agent‹ (process 812)› serves this network namespace',
      action: 'Stop the other one first; a second agent needs a network namespace of its own.',
    },
    {
      site: 'packages/local-api/src/unix-listener.ts',
      message: '‹a process listens on /run/podwire/podlet.sock already›',
    },
  ],
  CALLER_REFUSED: [
    {
      site: 'packages/agent/src/server/cni-server.ts',
      message: 'user ‹1000› may not call the agent',
    },
  ],
  CALLER_GONE: [
    {
      site: 'packages/agent/src/server/connection.ts',
      message: 'the plugin has no use for its answer',
    },
  ],
  AGENT_UNREACHABLE: [
    {
      site: 'packages/local-api/src/client.ts',
      message: 'no ‹agent› answers at ‹/run/podwire/api.sock›‹: ›there is no such socket',
    },
    {
      site: 'packages/cli/src/commands/flows.ts',
      message: '‹no agent answers at /run/podwire/api.sock: there is no such socket›',
      action:
        '‹Start the agent (`podwire agent`), or say where it listens: `--socket` or `--config`.› Where there is none, give the IPv4 address of the pod in place of its name.',
    },
    {
      site: 'packages/local-api/src/client.ts',
      message: 'no ‹agent› answers at ‹/run/podwire/api.sock›‹: ›permission denied',
      action: 'Run the command as root.',
    },
    {
      site: 'packages/local-api/src/client.ts',
      message: 'no ‹agent› answers at ‹/etc/hosts›‹: ›this is no socket',
      action: null,
    },
  ],
  DEADLINE_EXCEEDED: [
    {
      site: 'packages/agent/src/endpoints/serve-request.ts',
      message: 'the request took longer than ‹10000› ms',
    },
    {
      site: 'packages/local-api/src/client.ts',
      message: 'the ‹agent› did not answer ‹/v1/status› within ‹15000› ms',
    },
  ],
  INSTALL_REFUSED: [
    {
      site: 'packages/cli/src/commands/install-programs.ts',
      message: '‹/opt/cni/bin/podwire-cni› was not written by Podwire, or was changed since',
    },
  ],
  INSTALL_FAILED: [
    {
      site: 'packages/cli/src/commands/install-programs.ts',
      message: '‹/opt/podwire/bin/podwire-cni› is no compiled program; build it: npm run setup',
    },
  ],
  MANIFEST_INVALID: [
    {
      site: 'packages/cli/src/manifest.ts',
      message: '‹web.yaml›: cannot be read‹: ENOENT: no such file or directory›',
    },
  ],
  PRIVILEGE_MISSING: [
    {
      site: 'packages/cli/src/testbed/down.ts',
      message: 'only root can take a testbed down',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'only root may open ‹/run/openvswitch/br0.mgmt›',
      action: 'Run the command as root, or with `sudo`.',
    },
  ],
  PREREQUISITE_MISSING: [
    {
      site: 'packages/testbed/src/programs.ts',
      message: 'the plugin ‹/opt/podwire/bin/podwire-cni› is not built yet: run "npm run setup"',
    },
  ],
  INTERNAL: [
    {
      site: 'packages/agent/src/errors.ts',
      message: 'unexpected error‹: Cannot read properties of undefined›',
    },
    {
      site: 'packages/cli/src/stalled.ts',
      message: 'the command waits for something that can no longer come',
    },
  ],
} as const satisfies Readonly<Record<string, Situations>>;
