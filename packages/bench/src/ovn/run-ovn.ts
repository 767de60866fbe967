/** Cost of the model ovn, which is Kube-OVN: real agents, real etcd, real OVN. */
import { type BenchCall, type Programs, stepsOf } from '../call.js';
import { type Conditions, noteConditions } from '../machine.js';
import { measureOvnAdds, type OvnAddOptions, type OvnAdds } from './adds.js';
import { startOvnCluster } from './cluster.js';
import { measureOvnSync, type OvnSync, type OvnSyncOptions } from './sync.js';
import { measureOvnThroughput, type OvnThroughput, type OvnThroughputOptions } from './throughput.js';

export interface OvnBenchOptions extends Programs {
  readonly adds: OvnAddOptions;
  readonly throughput: OvnThroughputOptions;
  readonly sync: OvnSyncOptions;
}

export const defaultOvnOptions = {
  adds: { pods: 100, burst: { pods: 50, rounds: 5 } },
  throughput: { rounds: 10, megabytes: 100 },
  sync: { pods: 1_000, subnets: 10 },
} as const satisfies Omit<OvnBenchOptions, 'binDir' | 'agent'>;

/** The result that is written as JSON. */
export interface OvnResult extends Conditions {
  readonly options: OvnBenchOptions;
  readonly adds: OvnAdds;
  readonly throughput: OvnThroughput;
  readonly sync: OvnSync;
}

/**
 * Needs root, openvswitch-switch, ovn-central, ovn-host, etcd-server and etcd-client. Leaves nothing behind.
 * @throws Error when anything does not work: there is no figure for that
 */
export async function runOvn(options: OvnBenchOptions, call: BenchCall): Promise<OvnResult> {
  const conditions = noteConditions();
  const { binDir, agent } = options;
  const shared = { binDir, agent, ...stepsOf(call) };
  const measured = await measureNodes(options, shared);
  const sync = await measureOvnSync({ ...options.sync, ...shared });
  return { ...conditions(), options, ...measured, sync };
}

async function measureNodes(
  options: OvnBenchOptions,
  shared: Programs & ReturnType<typeof stepsOf>,
): Promise<Pick<OvnResult, 'adds' | 'throughput'>> {
  const cluster = await startOvnCluster(shared.agent);
  try {
    const adds = await measureOvnAdds(cluster, { ...options.adds, ...shared });
    return { adds, throughput: await measureOvnThroughput(cluster, { ...options.throughput, ...shared }) };
  } finally {
    await cluster.close();
  }
}
