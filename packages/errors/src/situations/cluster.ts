import type { Situations } from './situation.js';

/** In a cluster: store, nodes, pools. */
export const clusterSituations = {
  STORE_UNAVAILABLE: [
    {
      site: 'packages/store/src/etcd/failure.ts',
      message: '‹Range at http://10.0.0.1:2379›: ‹connect ECONNREFUSED 10.0.0.1:2379›',
    },
  ],
  STORE_DENIED: [
    {
      site: 'packages/store/src/etcd/failure.ts',
      message: '‹Range at http://10.0.0.1:2379›: ‹etcdserver: permission denied›',
    },
    {
      site: 'packages/store/src/embedded/database.ts',
      message: '‹/var/lib/podwire/store› cannot be used‹: EACCES: permission denied›',
      action: 'Check the permissions of the directory.',
    },
  ],
  STORE_FULL: [
    {
      site: 'packages/store/src/etcd/failure.ts',
      message: '‹Txn at http://10.0.0.1:2379›: ‹etcdserver: mvcc: database space exceeded›',
      action:
        'Compact, defragment and disarm the alarm, or raise the quota of etcd. Nodes go on with the blocks they have.',
    },
    {
      site: 'packages/store/src/embedded/database.ts',
      message: 'the disk of ‹/var/lib/podwire/store› is full',
      action: 'Free space there. Nodes go on with the blocks they have.',
    },
  ],
  STORE_CONFLICT: [
    {
      site: 'packages/cluster-ipam/src/operations/access.ts',
      message: '‹the split of pool web›: others changed the same objects each of ‹8› times it was tried',
    },
  ],
  STORE_LEASE_LOST: [
    {
      site: 'packages/agent/src/cluster/registration.ts',
      message: 'the lease of this node was taken away',
    },
  ],
  OBJECT_UNKNOWN: [
    {
      site: 'packages/cli/src/objects/names.ts',
      message: 'there is no ‹networkpolicies/shop/web› in ‹store etcd›',
    },
    {
      site: 'packages/cluster-sdn/src/problems.ts',
      message: 'there is no ClusterNetwork default, so nothing can be handed out',
      action: 'Apply one: docs/objects.md.',
    },
  ],
  OBJECT_CONFLICT: [
    {
      site: 'packages/objects/src/sources/failures.ts',
      message:
        '‹networking.k8s.io/v1 NetworkPolicy shop/web›: another writer was faster: expected was ‹revision 17›, and ‹it has revision 19 now›',
    },
  ],
  OBJECT_IN_USE: [
    {
      site: 'packages/objects/src/sources/users.ts',
      message: '‹kubeovn.io/v1 Subnet blue› is needed by ‹IP web.shop, IP db.shop›',
    },
  ],
  OBJECT_INVALID: [
    {
      site: 'packages/store/src/objects.ts',
      message: '‹/podwire/pools/web: cidr: no prefix›',
    },
    {
      site: 'packages/networks/sdn/src/check.ts',
      message: '‹subnet of the node›: ‹fd00::/64› is IPv6, and the model sdn has IPv4 alone',
    },
    {
      site: 'packages/cluster-sdn/src/problems.ts',
      message: '‹network.openshift.io/v1 NetNamespace shop›: ‹netid: is missing›',
      action: 'Correct or delete the object. Until then it is left alone, and what it has is not handed out.',
    },
  ],
  OBJECT_TOO_NEW: [
    {
      site: 'packages/store/src/objects.ts',
      message: '‹/podwire/pools/web›: version: is ‹2›; ‹pool› is read up to ‹1›',
    },
    {
      site: 'packages/store/src/embedded/database.ts',
      message: 'the store in ‹/var/lib/podwire/store› has format ‹2›; this version reads ‹1›',
    },
  ],
  NODE_NAME_TAKEN: [
    {
      site: 'packages/agent/src/cluster/node-name.ts',
      message:
        'the node name ‹n1› is taken by another agent (instance ‹6c1d…›, since ‹09:14›); this one is instance ‹91ab…›',
    },
  ],
  NODE_FENCED: [
    {
      site: 'packages/cluster-ipam/src/fence.ts',
      message: 'the store has not confirmed this node ‹for 312 s›',
    },
    {
      site: 'packages/cluster-ipam/src/fence.ts',
      message: 'the node‹’›s name belongs to another agent (instance ‹6c1d…›)',
      action: 'Stop the other agent, or give this node a `nodeName` of its own.',
    },
  ],
  NODE_STATE_STALE: [
    {
      site: 'packages/cluster-ipam/src/node-addressing.ts',
      message: 'NODE_STATE_STALE: in use here, in ‹a block of n2›: ‹10.244.1.7 (default/web)›',
    },
  ],
  NODE_ALIVE: [
    {
      site: 'packages/cluster-ipam/src/operations/release-node.ts',
      message: 'node ‹n2› ‹is up›: nothing is taken from it',
    },
  ],
  NODE_UNKNOWN: [
    {
      site: 'packages/cluster-ipam/src/operations/release-node.ts',
      message: 'no node ‹n9› is registered, and nothing is its own',
    },
    {
      site: 'packages/testbed/src/testbed.ts',
      message: 'the testbed ‹podwire› has no node ‹node9›',
      action: '`podwire testbed status` lists them.',
    },
  ],
  POOL_UNKNOWN: [
    {
      site: 'packages/cluster-ipam/src/operations/pools.ts',
      message: 'no pool ‹wbe›‹; ›there are ‹default-ipv4, web›',
    },
  ],
  POOL_IN_USE: [
    {
      site: 'packages/cluster-ipam/src/operations/pools.ts',
      message:
        'pool ‹web›: nodes ‹n1, n2› have blocks of it (‹10.245.0.0/26, 10.245.0.64/26›); ‹in use by default/web›',
      action:
        'Move its pods to another pool (`podwire ipam migrate ‹web› POOL`), or disable it and wait until they have ended.',
    },
    {
      site: 'packages/cluster-ipam/src/operations/pools.ts',
      message: 'pool ‹web›: workloads name it: ‹default/web-*›',
      action: 'Give them other pools or addresses first: `podwire workload set`.',
    },
    {
      site: 'packages/cluster-ipam/src/operations/migrate.ts',
      message: 'pool ‹web›: give these workloads addresses of pool ‹front› first: ‹default/db (10.245.0.9)›',
      action: '`podwire workload set NAME --address ADDRESS` does it for one.',
    },
    {
      site: 'packages/cluster-ipam/src/operations/split.ts',
      message: 'pool ‹web› is being deleted',
    },
  ],
  POOL_INVALID: [
    {
      site: 'packages/cluster-ipam/src/operations/pool-rules.ts',
      message: '‹pool web: cidr: overlaps 10.244.0.0/16 of pool default-ipv4›',
    },
  ],
  MTU_MISMATCH: [
    {
      site: 'packages/networks/routed/src/mtu.ts',
      message: '‹node n2 takes packets of 1400 bytes; pods may send 1450›',
    },
  ],
  PLAN_CONFLICT: [
    {
      site: 'packages/agent/src/cluster/peers.ts',
      message:
        'PLAN_CONFLICT: ‹route 10.244.1.0/26›: ‹node n1 and node n2› need it differently; ‹node n1› has it',
    },
  ],
  PLAN_FAILED: [
    {
      site: 'packages/agent/src/node/model-scopes.ts',
      message: 'PLAN_FAILED: ‹group:web›: ‹segment 7 has no VLAN›',
    },
    {
      site: 'packages/agent/src/endpoints/add.ts',
      message: 'the pod needs ‹group/web›, which could not be put in force',
    },
  ],
  SDN_EXHAUSTED: [
    {
      site: 'packages/cluster-sdn/src/problems.ts',
      message: 'no subnet is free for ‹n600› in ‹10.128.0.0/14›',
      action:
        'Add a range to clusterNetworks of the ClusterNetwork, or delete nodes that are not needed any more.',
    },
    {
      site: 'packages/cluster-sdn/src/problems.ts',
      message: 'no VNID is free for the namespace ‹shop›',
      action: 'Delete namespaces that are not needed any more, or join some of them.',
    },
  ],
  SDN_CHANGE_REFUSED: [
    {
      site: 'packages/cluster-sdn/src/plan/network-change.ts',
      message: '‹netnamespace shop: ›cannot join ‹bar›, which has no NetNamespace',
    },
  ],
  SDN_CONFLICT: [
    {
      site: 'packages/cluster-sdn/src/plan/subnet-faults.ts',
      message: 'the subnets of ‹n1› and ‹n2› overlap: ‹10.128.0.0/22›, ‹10.128.2.0/23›',
    },
  ],
  POD_UNALLOCATED: [
    {
      site: 'packages/networks/ovn/src/endpoint/attachment.ts',
      message: 'no address allocated to pod ‹shop/web› yet',
    },
    {
      site: 'packages/networks/ovn/src/endpoint/attachment.ts',
      message:
        'no address allocated to pod ‹shop/web› yet‹: OVN_EXHAUSTED: no address is free for pod shop/web in subnet blue (10.17.0.0/24)›',
    },
  ],
  OVN_EXHAUSTED: [
    {
      site: 'packages/cluster-ovn/src/problems.ts',
      message: 'no address is free for ‹pod shop/web› in subnet ‹blue› (‹10.17.0.0/24›)',
      action: 'Delete pods that are not needed any more, or take less out with excludeIps of the Subnet.',
    },
    {
      site: 'packages/cluster-ovn/src/problems.ts',
      message: 'no address is free for ‹pod shop/web-3› in its ip_pool ‹10.17.0.5,10.17.0.6›',
      action: 'Give the annotation ovn.kubernetes.io/ip_pool more addresses.',
    },
  ],
  OVN_CONFLICT: [
    {
      site: 'packages/cluster-ovn/src/pods/choose-addresses.ts',
      message: '‹pod shop/web›: ‹10.17.0.5› belongs to ‹pod shop/db›',
    },
    {
      site: 'packages/cluster-ovn/src/pods/choose-subnet.ts',
      message: '‹pod shop/web›: ‹ovn.kubernetes.io/logical_switch›: there is no subnet ‹blue›',
      action: 'Create the subnet, or name one that is there: `podwire get subnets`.',
    },
  ],
  TENANT_CONFLICT: [
    {
      site: 'packages/cluster-tenant/src/plan/put.ts',
      message: '‹network default:web: subnet› overlaps that of network ‹default:db›, ‹10.1.1.0/24›',
    },
    {
      site: 'packages/cluster-tenant/src/plan/shared.ts',
      message: '‹network default:web: gateway› cannot change once the object is there',
    },
  ],
  TENANT_EXHAUSTED: [
    {
      site: 'packages/cluster-tenant/src/allocation/addresses.ts',
      message: '‹endpoint web.default-c1:› no address of ‹10.1.1.0/24› is free',
      action: 'Delete endpoints, or add a network.',
    },
    {
      site: 'packages/cluster-tenant/src/allocation/tags.ts',
      message: '‹network default:web:› no ‹VLAN› of ‹1-4094› is free',
      action: 'Delete networks that are not needed, or widen the range: vlans or vxlans of globals/global.',
    },
    {
      site: 'packages/cluster-tenant/src/store/write.ts',
      message:
        '‹/contiv.io/obj/modeldb/tenant/default:› with its links it has more than the ‹1048576› bytes that an item of the store holds',
      action: 'Delete objects that name it, or spread them over several tenants.',
    },
  ],
  BGP_REFUSED: [
    {
      site: 'packages/bird/src/control.ts',
      message: 'the BGP daemon at ‹/run/podwire/bird.ctl› does not answer: ‹connect ECONNREFUSED›',
    },
    {
      site: 'packages/bird/src/speaker.ts',
      message: '‹/run/podwire/bird.conf› cannot be written: ‹ENOSPC: no space left on device›',
      action: 'Check the free space and the permissions of its directory.',
    },
  ],
  IMPORT_INVALID: [
    {
      site: 'packages/calico-import/src/apply.ts',
      message: '‹IPAMBlock 192-168-1-0-26: allocations has 3 entries, but the block has 64 addresses›',
    },
    {
      site: 'packages/cli/src/commands/import.ts',
      message: '‹calico.json›: cannot be read‹: ENOENT: no such file or directory›',
      action: null,
    },
  ],
  TESTBED_FAILED: [
    {
      site: 'packages/cli/src/testbed/choose.ts',
      message: 'there are several testbeds‹; ›name one with --testbed: ‹a, b›',
    },
    {
      site: 'packages/testbed/src/testbed.ts',
      message: 'the testbed ‹podwire› is not up: it is ‹starting›, or was left so',
      action: '`podwire testbed status` shows its parts, `podwire testbed down` removes what is left.',
    },
  ],
  DASHBOARD_FAILED: [
    {
      site: 'packages/dashboard/src/server/server.ts',
      message: 'the dashboard cannot listen at ‹127.0.0.1› port ‹8600›: ‹the port is taken›',
      action: 'Leave --port out for a free one.',
    },
    {
      site: 'packages/dashboard/src/server/server.ts',
      message: 'the dashboard cannot listen at ‹192.0.2.10› port ‹8600›: ‹this machine has no such address›',
      action: '`ip address` shows those of this machine; without --listen it is loopback.',
    },
  ],
} as const satisfies Readonly<Record<string, Situations>>;
