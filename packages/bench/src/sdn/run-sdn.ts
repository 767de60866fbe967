/** Cost of the model sdn, which is OpenShift SDN on Open vSwitch: real agents, real etcd, real switches. */
import { type BenchCall, type Programs, stepsOf } from '../call.js';
import { type Conditions, noteConditions } from '../machine.js';
import { measureSdnAdds, type SdnAddOptions, type SdnAdds } from './adds.js';
import { measureSwitchRates, type SwitchRateOptions, type SwitchRates } from './switch-rates.js';
import { measureSdnThroughput, type SdnThroughput, type SdnThroughputOptions } from './throughput.js';

export interface SdnBenchOptions extends Programs {
  /** With `host-local`, which what is made of commands needs; it is left out where that is missing. */
  readonly peerBinDir: string;
  readonly adds: SdnAddOptions;
  readonly rates: SwitchRateOptions;
  readonly throughput: SdnThroughputOptions;
}

export const defaultSdnOptions = {
  peerBinDir: '/usr/lib/cni',
  adds: { pods: 20, rounds: 10 },
  rates: { flows: 20_000, ports: 300, rounds: 3 },
  throughput: { rounds: 10, megabytes: 100 },
} as const satisfies Omit<SdnBenchOptions, 'binDir' | 'agent'>;

/** The result that is written as JSON. */
export interface SdnResult extends Conditions {
  readonly options: SdnBenchOptions;
  readonly adds: SdnAdds;
  readonly rates: SwitchRates;
  readonly throughput: SdnThroughput;
}

/**
 * Needs root, openvswitch-switch, etcd-server and etcd-client. Leaves nothing behind.
 * @throws Error when anything does not work: there is no figure for that
 */
export async function runSdn(options: SdnBenchOptions, call: BenchCall): Promise<SdnResult> {
  const conditions = noteConditions();
  const { binDir, agent, peerBinDir } = options;
  const shared = { binDir, agent, peerBinDir, ...stepsOf(call) };
  const adds = await measureSdnAdds({ ...options.adds, ...shared });
  const rates = await measureSwitchRates({ ...options.rates, ...shared });
  const throughput = await measureSdnThroughput({ ...options.throughput, ...shared });
  return { ...conditions(), options, adds, rates, throughput };
}
