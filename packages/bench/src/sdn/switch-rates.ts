/** Flows and ports of a real Open vSwitch by our clients beside its own programs, in turns. */
import { addFlow, type Flow, formatFlow, openSwitch } from '@podwire/openflow';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { StepCall } from '../call.js';
import { pairedRatio, quantile } from '../statistics.js';
import { type BareSwitch, BRIDGE, linkNames, startBareSwitch } from './bare-switch.js';

export interface SwitchRateOptions {
  /** In one bundle. */
  readonly flows: number;
  /** In one transaction. */
  readonly ports: number;
  readonly rounds: number;
}

/** Medians over rounds in which all took turns. */
export interface SwitchRates {
  readonly flows: {
    readonly count: number;
    /** Flows a second. */
    readonly podwire: number;
    /** By `ovs-ofctl --bundle add-flows`. */
    readonly ofctl: number;
    readonly ratio: number;
  };
  /** Milliseconds until ovs-vswitchd has made all. */
  readonly ports: {
    readonly count: number;
    readonly podwire: number;
    /** By one `ovs-vsctl` for all. */
    readonly vsctl: number;
    /** By one `ovs-vsctl` for each. */
    readonly vsctlEach: number;
    readonly ratio: number;
    readonly ratioEach: number;
  };
}

export async function measureSwitchRates(options: SwitchRateOptions & StepCall): Promise<SwitchRates> {
  return { flows: await measureFlows(options), ports: await measurePorts(options) };
}

async function measureFlows({
  flows: count,
  rounds,
  progress,
}: SwitchRateOptions & StepCall): Promise<SwitchRates['flows']> {
  const real = await OpenVSwitch.startWithBridge();
  try {
    const connection = await openSwitch(real.socketOf('br0'), { timeout: patience });
    const flows = Array.from({ length: count }, (_, index) => flowOf(index));
    const changes = flows.map(addFlow);
    const text = flows.map(formatFlow).join('\n');
    const remove = (): Promise<string> => real.ofctl(['del-flows', 'BRIDGE']);
    const ways = [
      { run: () => connection.applyBundle(changes), undo: remove },
      { run: () => real.ofctl(['--bundle', 'add-flows', 'BRIDGE', '-'], text), undo: remove },
    ];
    const report = (done: number): void => progress(`${count} flows in a bundle`, done, rounds + 1);
    const [ours = [], theirs = []] = await takeTurns(ways, rounds, report);
    connection.close();
    const rateOf = (times: readonly number[]): number => (count * 1_000) / quantile(times, 0.5);
    return { count, podwire: rateOf(ours), ofctl: rateOf(theirs), ratio: pairedRatio(theirs, ours) };
  } finally {
    await real.close();
  }
}

/** As a flow of a pod. */
const flowOf = (index: number): Flow => ({
  ...{ table: 20, priority: 100, actions: [{ type: 'output', port: 1 }] },
  match: { eth_type: 0x0800, ip_src: `10.${128 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}` },
});

async function measurePorts({
  ports: count,
  rounds,
  progress,
}: SwitchRateOptions & StepCall): Promise<SwitchRates['ports']> {
  const bare = await startBareSwitch('ports', count);
  try {
    const links = linkNames(count);
    const undo = async (): Promise<void> => {
      await bare.removePorts(links);
      await bare.settle();
    };
    const ways = [
      { run: () => bare.addPorts(links), undo },
      { run: () => addByCommand(bare, links), undo },
      { run: () => addByCommands(bare, links), undo },
    ];
    const report = (done: number): void => progress(`${count} ports`, done, rounds + 1);
    const [ours = [], all = [], each = []] = await takeTurns(ways, rounds, report);
    const [podwire, vsctl, vsctlEach] = [ours, all, each].map((times) => quantile(times, 0.5)) as Triple;
    const [ratio, ratioEach] = [pairedRatio(ours, all), pairedRatio(ours, each)];
    return { count, podwire, vsctl, vsctlEach, ratio, ratioEach };
  } finally {
    await bare.close();
  }
}

type Triple = [number, number, number];

const addByCommand = (bare: BareSwitch, links: readonly string[]): Promise<string> =>
  bare.switch.vsctl(...links.flatMap((link) => ['--', 'add-port', BRIDGE, link]));

async function addByCommands(bare: BareSwitch, links: readonly string[]): Promise<void> {
  for (const link of links) await bare.switch.vsctl('add-port', BRIDGE, link);
}

interface Way {
  readonly run: () => Promise<unknown>;
  readonly undo: () => Promise<unknown>;
}

/** Forwards and backwards. The first round warms up. @returns milliseconds of each way, one for each round */
async function takeTurns(
  ways: readonly Way[],
  rounds: number,
  report: (done: number) => void,
): Promise<number[][]> {
  const taken = ways.map((way) => ({ way, times: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const { way, times } of round % 2 === 0 ? taken : taken.toReversed()) {
      const start = performance.now();
      await way.run();
      if (round > 0) times.push(performance.now() - start);
      await way.undo();
    }
    report(round + 1);
  }
  return taken.map(({ times }) => times);
}

/** Milliseconds. */
const patience = 60_000;
