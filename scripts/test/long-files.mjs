/** Test files that take more than a minute beside others, the longest first. A file that is missing here only begins later. */
export const longFiles = [
  ...['faults/kill-recovery-alone.ns', 'faults/kill-add-alone.ns', 'faults/kill-remove.ns'],
  ...['cri-docker/test/recovery.system', 'agent/test/ovn-kill.system', 'agent/test/policy-kill.ns'],
  ...[
    'demo/test/demo.ns',
    'faults/kill-add-batches.ns',
    'cluster/policy-truth.system',
    'agent/test/sdn-kill.system',
  ],
  ...['cli/test/package.system', 'cluster/testbed-ovn.system', 'agent/test/cluster-crash.ns'],
  ...['agent/test/ovn-provider.system', 'cluster/testbed-sdn.system', 'cluster/lent-direct.system'],
  ...['agent/test/sdn-faults.system', 'cluster/lent-vxlan.system', 'cluster/agent-start.system'],
  ...['faults/interleavings-second.ns', 'faults/interleavings-first.ns', 'pods/kill-sandbox-service.system'],
  ...['store/test/etcd.system', 'cluster/cut-off.system', 'system/new-machine.system', 'agent/test/agent.ns'],
  ...['pods/cri-dies.ns', 'agent/test/sdn.system', 'agent/test/cluster.ns', 'agent/test/ovn.system'],
  ...['bench/test/cluster.system', 'cluster/testbed.system', 'agent/test/sdn-isolation.system'],
  ...['cri/test/containerd.system', 'pods/kill-pod-agent-runtime.ns'],
];

const rankOf = (source) => {
  const rank = longFiles.findIndex((part) => source.endsWith(`${part}.test.ts`));
  if (rank >= 0) return rank;
  // Those of the whole system take longer than those of a package.
  return longFiles.length + (source.startsWith('test/') ? 0 : 1);
};

/** Takes and returns `{ source }`s; those of one rank stay in their order. */
export const sortLongestFirst = (files) =>
  files.toSorted((one, other) => rankOf(one.source) - rankOf(other.source));
