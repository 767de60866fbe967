/**
 * ADD and DEL of a pod of the model sdn, in turns with one of the model routed, with a plugin that is made of commands, and with one
 * port of Open vSwitch.
 */
import type { Programs, StepCall } from '../call.js';
import {
  addPods,
  type Candidate,
  type CandidateName,
  podwireCandidate,
  type PodSlot,
} from '../candidates.js';
import { measure, type Measurement, merge } from '../measure.js';
import { summarize, type Summary } from '../statistics.js';
import { type BareSwitch, linkNames, startBareSwitch } from './bare-switch.js';
import { startCommandsNode } from './commands-node.js';
import { type BenchNode, sdnCandidate, startRoutedNode, startSdnNode } from './nodes.js';

export interface SdnAddOptions {
  /** Pods of each candidate in a round. */
  readonly pods: number;
  readonly rounds: number;
}

/** Milliseconds. */
export interface SdnAdds {
  /** Those of `commands` are absent where there is no `host-local`. */
  readonly measurements: readonly Measurement[];
  /** One port of Open vSwitch: one transaction, until ovs-vswitchd has reported its number. */
  readonly port: Summary;
}

export interface SdnAddCall extends SdnAddOptions, Programs, StepCall {
  /** With `host-local`. */
  readonly peerBinDir: string;
}

export async function measureSdnAdds(options: SdnAddCall): Promise<SdnAdds> {
  const opened: { close(): Promise<void> }[] = [];
  try {
    const routed = await startRoutedNode(options.agent);
    opened.push(routed);
    const sdn = await startSdnNode(options.agent);
    opened.push(sdn);
    const bare = await startBareSwitch('port', options.pods);
    opened.push(bare);
    const commands = await startCommandsNode(options.peerBinDir);
    if (commands !== undefined) opened.push(commands);
    const peers = commands === undefined ? [] : [commands.candidate];
    const candidates = [routedCandidate(routed, options), sdnCandidate(sdn, options.binDir), ...peers];
    return await takeTurns(candidates, bare, options);
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

const routedCandidate = ({ host, agent }: BenchNode, { binDir }: Programs): Candidate => ({
  ...podwireCandidate(host, false, binDir, agent),
  title: 'podwire, model routed',
});

/** Forwards and backwards. The first round warms up. */
async function takeTurns(
  candidates: readonly Candidate[],
  bare: BareSwitch,
  { pods: count, rounds, signal, progress }: SdnAddOptions & StepCall,
): Promise<SdnAdds> {
  const pods = new Map<CandidateName, readonly PodSlot[]>(
    candidates.map(({ name, host }) => [name, addPods(host, count)]),
  );
  const plan = { pods, workers: 1, batch: count, signal, progress: () => undefined };
  const measurements: Measurement[] = [];
  const ports: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ordered = round % 2 === 1 ? candidates : candidates.toReversed();
    const taken = await measure({ ...plan, candidates: ordered });
    const times = await measurePorts(bare, count);
    if (round > 0) {
      measurements.push(...taken);
      ports.push(...times);
    }
    progress('ADD and DEL of the model sdn', round + 1, rounds + 1);
  }
  return { measurements: merge(measurements), port: summarize(ports) };
}

/** The ports stay until all are there, as those of pods do. */
async function measurePorts(bare: BareSwitch, count: number): Promise<number[]> {
  const times: number[] = [];
  for (const link of linkNames(count)) {
    const start = performance.now();
    await bare.addPorts([link]);
    times.push(performance.now() - start);
  }
  await bare.removePorts(linkNames(count));
  await bare.settle();
  return times;
}
