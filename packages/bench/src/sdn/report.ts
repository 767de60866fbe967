import type { CandidateName } from '../candidates.js';
import { formatConditions } from '../machine.js';
import type { Measurement, Operation } from '../measure.js';
import { quantile } from '../statistics.js';
import { formatNumber, formatTable } from '../table.js';
import { type Comparison, evaluate, formatComparisons, least, most } from '../thresholds.js';
import type { SdnAdds } from './adds.js';
import type { SdnResult } from './run-sdn.js';
import type { SwitchRates } from './switch-rates.js';

/** Figures of the model sdn with their thresholds. */
export const compareSdn = ({ adds, rates, throughput }: SdnResult): Comparison[] => [
  ...compareAdds(adds),
  ...compareRates(rates),
  evaluate('TCP between pods, of a bridge made by hand', throughput.ratio, '×', least(0.95)),
];

function compareRates({ flows, ports }: SwitchRates): Comparison[] {
  return [
    evaluate(`${flows.count} flows in a bundle`, flows.podwire, '/s', least(20_000)),
    evaluate('the same, rate of ovs-ofctl for each', flows.ratio, '×'),
    evaluate(`${ports.count} ports in a transaction`, ports.podwire, 'ms', most(1_000)),
    evaluate('the same, of one ovs-vsctl for all', ports.ratio, '×'),
    evaluate('the same, of one ovs-vsctl for each', ports.ratioEach, '×'),
  ];
}

function compareAdds({ measurements, port }: SdnAdds): Comparison[] {
  const medianOf = (candidate: CandidateName, operation: Operation): number =>
    measurements.find((one) => one.candidate === candidate && one.operation === operation)?.summary.median ??
    Number.NaN;
  const [add, del] = [medianOf('sdn', 'ADD'), medianOf('sdn', 'DEL')];
  const [routedAdd, routedDel] = [medianOf('podwire', 'ADD'), medianOf('podwire', 'DEL')];
  const allowed = port.median + 1.5 * routedAdd;
  const commandsAdd = medianOf('commands', 'ADD');
  return [
    evaluate('ADD p50, of one port and 1.5 ADDs of the model routed', add / allowed, '×', most(1)),
    evaluate('ADD p50, of that of the model routed', add / routedAdd, '×'),
    evaluate('DEL p50, of that of the model routed', del / routedDel, '×', most(2)),
    ...(Number.isNaN(commandsAdd)
      ? []
      : [
          evaluate('ADD p50, of that by commands', add / commandsAdd, '×', most(0.15)),
          evaluate('DEL p50, of that by commands', del / medianOf('commands', 'DEL'), '×', most(0.15)),
        ]),
  ];
}

const titles: Partial<Record<CandidateName, string>> = {
  ...{ podwire: 'model routed', sdn: 'model sdn', commands: 'host-local, ip, ovs-vsctl, ovs-ofctl' },
};

function formatAdds({ measurements, port }: SdnAdds): string[] {
  const row = ({ candidate, operation, summary, daemonTime }: Measurement): string[] => [
    `${operation}, ${titles[candidate] ?? candidate}`,
    String(summary.count),
    ...[summary.median, summary.p99].map(formatNumber),
    daemonTime === undefined ? '' : formatNumber(daemonTime / summary.count),
  ];
  return formatTable([
    ['milliseconds', 'count', 'p50', 'p99', 'agent'],
    ...measurements.map(row),
    ['one port of Open vSwitch', String(port.count), ...[port.median, port.p99].map(formatNumber)],
  ]);
}

function formatRates({ rates: { flows, ports }, throughput }: SdnResult): string[] {
  const gigabits = (rates: readonly number[]): string => formatNumber(quantile(rates, 0.5) / 1e9);
  const row = (what: string, values: readonly number[]): string[] => [what, ...values.map(formatNumber)];
  return formatTable([
    ['in turns', 'podwire', 'beside', 'one by one'],
    row('flows/s, beside ovs-ofctl', [flows.podwire, flows.ofctl]),
    row(`${ports.count} ports, ms, beside ovs-vsctl`, [ports.podwire, ports.vsctl, ports.vsctlEach]),
    ['TCP, Gbit/s, beside a bridge by hand', gigabits(throughput.podwire), gigabits(throughput.byHand)],
  ]);
}

/** A peer that could not be measured is named. */
function nameMissing({ adds, options: { peerBinDir } }: SdnResult): string[] {
  const isThere = adds.measurements.some(({ candidate }) => candidate === 'commands');
  return isThere ? [] : [`By commands: not measured, there is no host-local in ${peerBinDir}.`];
}

export function formatSdn(result: SdnResult): string {
  return [
    `The model sdn: ${formatConditions(result)}`,
    '',
    ...formatAdds(result.adds),
    ...nameMissing(result),
    '',
    ...formatRates(result),
    '',
    ...formatComparisons(compareSdn(result)),
  ].join('\n');
}
