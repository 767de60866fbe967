import type { Command } from 'commander';
import { bracketHost } from '@podwire/addresses';
import { openLocatedApi } from '../api/locate.js';
import type { EndpointView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';
import type { TableOptions } from '../render/table.js';

interface EndpointsView {
  readonly endpoints: readonly EndpointView[];
}

export function define(command: Command, io: Io): void {
  command
    .description('Lists the attachments of this node.')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .action(() => show(command, io));
  addOutput(addAgent(command), ['text', 'wide', 'name', 'json']);
  addExamples(command, [
    ['podwire pods', ''],
    ['podwire pods -n shop -o wide', 'with network, MAC and network namespace'],
    ['podwire pods -o name', 'one pod/NAMESPACE/NAME a line, for scripts'],
    ['podwire pods -o json', '{"endpoints":[…]}'],
  ]);
}

async function show(command: Command, io: Io): Promise<void> {
  const { namespace } = optionsOf(command) as { namespace?: string };
  const api = await openLocatedApi(command, io);
  const { endpoints } = await api.get<EndpointsView>('/v1/endpoints');
  const wanted = endpoints.filter(({ pod }) => namespace === undefined || pod.namespace === namespace);
  const sorted = wanted.toSorted((a, b) => compare(nameOf(a), nameOf(b)) || compare(a.key, b.key));
  const format = outputOf(command);
  if (format === 'json') return writeJson(io, { endpoints: sorted });
  if (format === 'name') return void sorted.forEach((each) => io.stdout.write(`${targetOf(each)}\n`));
  if (sorted.length === 0) return void io.stderr.write('no pods\n');
  const { renderTable } = await import('../render/table.js');
  return writeLines(
    io,
    renderTable(
      podTable(sorted, format === 'wide', io.now(), await ageFormat()),
      colorsFor(io, io.stdout),
      widthOf(io),
    ),
  );
}

const ageFormat = async () => (await import('../render/times.js')).formatAge;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `namespace/name`, or the container's id outside Kubernetes. */
export function nameOf({ pod, containerId }: Pick<EndpointView, 'pod' | 'containerId'>): string {
  return pod.name === undefined ? containerId : `${pod.namespace ?? ''}/${pod.name}`;
}

/** What `explain` and `trace` take. */
export function targetOf(endpoint: Pick<EndpointView, 'pod' | 'containerId'>): string {
  return endpoint.pod.name === undefined ? endpoint.containerId : `pod/${nameOf(endpoint)}`;
}

export function podTable(
  endpoints: readonly EndpointView[],
  wide: boolean,
  now: number,
  formatAge: (milliseconds: number) => string,
): TableOptions {
  const head: TableOptions['head'] = [
    'POD',
    { title: 'ADDRESSES', cut: 'list', least: 15, importance: 9 },
    { title: 'INTERFACE', cut: 'never', importance: 4 },
    { title: 'HOST PORTS', cut: 'list', importance: 5 },
    { title: 'RATES', importance: 3 },
    { title: 'AGE', cut: 'never', importance: 7 },
    { title: 'PHASE', cut: 'never', importance: 8 },
  ];
  const rows = endpoints.map((endpoint) => [
    printable(nameOf(endpoint)),
    endpoint.addresses.join(' '),
    endpoint.hostInterface,
    describePorts(endpoint.portMappings),
    describeRates(endpoint.bandwidth),
    formatAge(now - Date.parse(endpoint.createdAt)),
    endpoint.phase,
  ]);
  if (!wide) return { head, rows };
  return {
    head: [...head, 'NETWORK', 'IN POD', 'MAC', 'CONTAINER', 'NAMESPACE'],
    rows: rows.map((row, index) => [...row, ...wideCells(endpoints[index]!)]),
  };
}

function wideCells({ network, ifName, mac, containerId, netns }: EndpointView): string[] {
  return [network, ifName, mac, containerId, netns].map(printable);
}

/** `8080→80/tcp` */
export function describePorts(mappings: EndpointView['portMappings']): string {
  const texts = mappings.map(({ hostIP, hostPort, containerPort, protocol }) => {
    const host = hostIP === undefined ? '' : `${bracketHost(hostIP)}:`;
    return `${host}${hostPort}→${containerPort}/${protocol}`;
  });
  return texts.join(' ') || '-';
}

/** `10M in, 5M out`, in bits per second. */
export function describeRates({
  ingressRate,
  egressRate,
}: NonNullable<EndpointView['bandwidth']> = {}): string {
  const texts = [
    ...(ingressRate === undefined ? [] : [`${formatRate(ingressRate)} in`]),
    ...(egressRate === undefined ? [] : [`${formatRate(egressRate)} out`]),
  ];
  return texts.join(', ') || '-';
}

export function formatRate(bits: number): string {
  const [factor, unit] = (
    [
      [1e9, 'G'],
      [1e6, 'M'],
      [1e3, 'k'],
    ] as const
  ).find(([size]) => bits >= size) ?? [1, ''];
  return `${Number((bits / factor).toPrecision(3))}${unit}`;
}
