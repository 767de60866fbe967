/** Results of the demo, for people. */
import {
  countReady,
  type Column,
  describePorts,
  describeRates,
  formatMilliseconds,
  formatPlural,
  formatRate,
  nameOf,
  renderPodTrace,
  renderTable,
} from '@podwire/cli/pods';
import type { Colors } from '@podwire/cli/command';
import type { CheckResult } from './checks.js';
import { addresses } from './host.js';
import { isNothing } from './teardown.js';
import type { RateResult } from './measure.js';
import type { DemoReport, Ending } from './run-demo.js';
import type { DemoPod } from './state.js';

export function renderPods(pods: readonly DemoPod[], width: number, paint: Colors): string[] {
  const head: Column[] = [
    { title: 'POD' },
    { title: 'READY', cut: 'never', importance: 5 },
    { title: 'RESTARTS', right: true, importance: 1 },
    { title: 'ADDRESSES', cut: 'list', importance: 4 },
    { title: 'HOST PORTS', cut: 'list', importance: 3 },
    { title: 'RATES', importance: 2 },
    { title: 'STARTED', right: true, importance: 6 },
  ];
  const rows = pods.map(({ view, endpoint, started }) => [
    nameOf(endpoint),
    countReady(view),
    String(view.status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0)),
    endpoint.addresses.join(' '),
    describePorts(endpoint.portMappings),
    describeRates(endpoint.bandwidth),
    formatMilliseconds(started),
  ]);
  const note = 'STARTED: from the manifest until the last container runs; all three at once.';
  return [...title('Pods', paint), ...renderTable({ head, rows }, paint, width), paint.dim(note)];
}

const mark = (ok: boolean, paint: Colors): string => (ok ? paint.green('✓') : paint.red('✗'));

/** One row for each who asks, one column for each who answers. */
export function renderMatrix(checks: readonly CheckResult[], width: number, paint: Colors): string[] {
  const direct = checks.filter(({ kind }) => kind === 'direct');
  const columns = [...new Set(direct.flatMap(({ from, to }) => [from, to]))];
  const rows = [...new Set(direct.map(({ from }) => from))].map((from) => [
    paint.bold(from),
    ...columns.map((to) =>
      renderCell(
        direct.filter((each) => each.from === from && each.to === to),
        paint,
      ),
    ),
  ]);
  const legend = [
    'In each cell: TCP and UDP over IPv4, then over IPv6. It counts only if a pod is',
    'seen by its own address, and by the world as the node (NAT).',
  ];
  return [
    ...title('Who reaches whom', paint),
    ...renderTable({ head: ['FROM \\ TO', ...columns], rows }, paint, width),
    ...legend.map(paint.dim),
  ];
}

function renderCell(checks: readonly CheckResult[], paint: Colors): string {
  if (checks.length === 0) return paint.dim('-');
  const families = [...new Set(checks.map(({ family }) => family))];
  return families
    .map((family) =>
      checks
        .filter((each) => each.family === family)
        .map(({ ok }) => mark(ok, paint))
        .join(''),
    )
    .join(' ');
}

export function renderPorts(checks: readonly CheckResult[], width: number, paint: Colors): string[] {
  const ports = checks.filter(({ kind }) => kind === 'port');
  const lines = [...new Set(ports.map(lineOf))].map((line) =>
    ports.filter((check) => lineOf(check) === line),
  );
  const families = [...new Set(ports.map(({ family }) => family))];
  const rows = lines.map((same) => [
    paint.bold(same[0]!.from),
    same[0]!.to,
    same[0]!.answeredBy,
    ...families.map((family) =>
      renderObservedCheck(
        same.find((check) => check.family === family),
        paint,
      ),
    ),
  ]);
  const head = ['FROM', 'TO', 'ANSWERS', ...families.map((family) => `AND SEES (IPv${family})`)];
  return [...title('Host ports', paint), ...renderTable({ head, rows }, paint, width)];
}

const lineOf = ({ from, to }: CheckResult): string => `${from} ${to}`;

function renderObservedCheck(check: CheckResult | undefined, paint: Colors): string {
  if (check === undefined) return paint.dim('-');
  return `${mark(check.ok, paint)} ${check.saw ?? check.problem ?? ''}`;
}

/** How many there were, how long they took, and every one that went wrong. */
export function renderSummary(checks: readonly CheckResult[], paint: Colors): string[] {
  const failed = checks.filter(({ ok }) => !ok);
  const times = checks
    .filter(({ ok }) => ok)
    .map(({ milliseconds }) => milliseconds)
    .sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const summary = `${times.length} of ${checks.length} as expected, median ${formatMilliseconds(median)} for question and answer.`;
  return [
    failed.length === 0 ? paint.green(summary) : paint.red(summary),
    ...failed.map(({ from, to, protocol, family, problem }) =>
      paint.red(`✗ ${from} to ${to}, ${protocol} over IPv${family}: ${problem ?? ''}`),
    ),
  ];
}

export function renderRates(rates: readonly RateResult[], width: number, paint: Colors): string[] {
  const rows = rates.map(({ from, to, limit, measured }) => [
    paint.bold(from),
    to,
    limit === undefined ? 'no limit' : formatBits(limit),
    formatBits(measured),
  ]);
  return [
    ...title('Rates', paint),
    ...renderTable({ head: ['FROM', 'TO', 'ASKED FOR', 'MEASURED'], rows, right: [2, 3] }, paint, width),
  ];
}

/** `9.65 Mbit/s` */
function formatBits(rate: number): string {
  return `${formatRate(rate).replace(/(?=[A-Za-z]?$)/, ' ')}bit/s`;
}

export function renderDemoTrace({ pod, spans }: DemoReport['trace'], width: number, paint: Colors): string[] {
  const name = `${pod.namespace}/${pod.name}`;
  return [
    ...title('From the manifest to the first packet', paint),
    ...renderPodTrace(spans, { name, width, full: false }, paint),
  ];
}

export function renderEnding({ down, before, left, machineChanges }: Ending, paint: Colors): string[] {
  const count = ({ namespaces, processes, mounts, files }: Ending['before']): string =>
    [
      formatPlural(namespaces, 'namespace'),
      formatPlural(processes, 'process'),
      formatPlural(mounts, 'mount'),
      formatPlural(files, 'file'),
    ].join(', ');
  const outcome = isNothing(left)
    ? paint.green(`Nothing is left of ${count(before)}.`)
    : paint.red(`Left behind: ${count(left)}.`);
  const machine =
    machineChanges.length === 0
      ? 'Links, addresses, routes and rules of this machine are as they were before.'
      : paint.yellow('Meanwhile this changed on the machine itself, which the demo does not touch:');
  return [
    ...(down === undefined ? [] : [`The pods were down after ${formatMilliseconds(down)}.`]),
    outcome,
    machine,
    ...machineChanges.map((line) => `  ${line}`),
  ];
}

/** Next steps with a demo that goes on. */
export function renderKept({ name, kept }: DemoReport, podwire: string, paint: Colors): string[] {
  const { directory, namespaces } = kept!;
  const [node = name, world = ''] = namespaces;
  const commands = [
    `${podwire} ps`,
    `${podwire} logs client`,
    `${podwire} exec web -- /bin/busybox ip addr`,
    `${podwire} trace pod/limited --full`,
    `${podwire} explain pod/shop/web`,
    `${podwire} net explain`,
    `${podwire} port-forward web 8000:80`,
    'ip route',
    'nft list table inet podwire',
    `ip netns exec ${world} busybox wget -q -O - http://${addresses.node[4]}:8080`,
  ];
  return [
    ...title('It goes on. A shell on the private host', paint),
    `  ip netns exec ${node} env PODWIRE_DIRECTORY=${directory} bash`,
    ...title('In it, for example', paint),
    ...commands.map((line) => `  ${line}`),
    '',
    `To end it: ${paint.bold(`${podwire} demo --end ${name}`)}`,
  ];
}

function title(text: string, paint: Colors): string[] {
  return ['', paint.bold(text)];
}
