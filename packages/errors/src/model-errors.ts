/** Coded errors of single network models, for the catalogue. */
export const modelErrors = {
  SDN_EXHAUSTED: {
    meaning: 'No subnet is free for a node of OpenShift SDN, or no VNID for a namespace.',
    cni: 11,
  },
  SDN_CHANGE_REFUSED: {
    meaning: 'The VNID of a namespace cannot be changed as its NetNamespace asks for.',
    action: 'Correct or remove the annotation pod.network.openshift.io/multitenant.change-network.',
    cni: 7,
  },
  SDN_CONFLICT: {
    meaning:
      'Subnets, VNIDs or addresses of nodes of OpenShift SDN contradict each other. All of them are left as they are.',
    action:
      'Correct one of the objects: `podwire get hostsubnets` and `podwire get netnamespaces` show them.',
    cni: 7,
  },
  OVN_EXHAUSTED: {
    meaning: 'No address is free for a pod or node in its subnet of the model ovn.',
    cni: 11,
  },
  POD_UNALLOCATED: {
    meaning: 'The controller of the model ovn has given no addresses to the pod yet.',
    action:
      'The log of `podwire controller --northbound` says why: its subnet is full, say. The runtime tries again by itself.',
    cni: 11,
  },
  OVN_CONFLICT: {
    meaning:
      'Pods, nodes and subnets of the model ovn contradict each other, or a pod asks for what it cannot have.',
    action:
      '`podwire get subnets` and `podwire get ips` show who has which addresses. Correct one of the two.',
    cni: 7,
  },
  TENANT_CONFLICT: {
    meaning:
      'A request to the master of the model tenant contradicts what is there: a name, a subnet, a number or an address is taken, or something cannot change. Nothing was stored.',
    action:
      'Ask for something else, or delete what is in the way: `GET /api/v1/inspect/…` of the master shows who has which numbers and addresses.',
    cni: 7,
  },
  TENANT_EXHAUSTED: {
    meaning:
      'No address, VLAN, VNI or group id is free in the model tenant, or an object has more links than the store holds.',
    cni: 11,
  },
  UPLINK_NOT_MOVED: {
    meaning:
      'The addresses, routes and rules of an interface cannot be moved to the bridge that it joins, or back. They are where they were.',
    action:
      'Look at the bridge (`ip link show`, `sysctl net.ipv6.conf.BRIDGE.disable_ipv6`): it must be up, and take IPv6 where the interface has it. The next reconcile tries again.',
    cni: 113,
  },
} as const;
