/** One pod for people: what it is, how it is, why, and what to do. */
import type { Container, PodStatus } from '@podwire/pod-spec';
import { type Colors, printable } from '../io.js';
import type { PodDocument } from '../pods/describe.js';
import { describeProbes, describeState, describeVolume } from '../pods/describe-parts.js';
import { fullName } from '../pods/names.js';
import { describeState as stateOf } from '../pods/readiness.js';
import { describePorts, describeRates } from './endpoints.js';
import { formatAge } from './times.js';
import { renderTable } from './table.js';

export interface DescribeOptions {
  readonly now: number;
  /** Cells of a line. */
  readonly width: number;
}

export function renderPodDocument(given: PodDocument, options: DescribeOptions, paint: Colors): string[] {
  const document = sanitize(given);
  const { pod, spec, advice } = document;
  const { initContainerStatuses, containerStatuses } = pod.status;
  return [
    ...describeHead(document, options, paint),
    ...section(
      'Init containers',
      describeContainers(spec.initContainers, initContainerStatuses, paint),
      paint,
    ),
    ...section('Containers', describeContainers(spec.containers, containerStatuses, paint), paint),
    ...section('Conditions', describeConditions(pod.status, options, paint), paint),
    ...section(
      'Volumes',
      spec.volumes.map((volume) => `${volume.name}: ${describeVolume(volume)}`),
      paint,
    ),
    ...section('Network', describeNetwork(document, paint), paint),
    ...section('Events', describeEvents(document, options, paint), paint),
    ...section('What to do', advice, paint),
  ];
}

/** Texts of manifests and programs: a terminal must not obey them, and each is one line. */
function sanitize(document: PodDocument): PodDocument {
  const text = JSON.stringify(document);
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string'
      ? printable(value)
          .trim()
          .replaceAll(/\s*\n\s*/g, ' ')
      : value,
  ) as PodDocument;
}

function section(title: string, lines: readonly string[], paint: Colors): string[] {
  return lines.length === 0 ? [] : ['', paint.bold(title), ...lines.map((line) => `  ${line}`)];
}

function describeHead(
  { pod, node, runtime, labels, reason, spec }: PodDocument,
  { now }: DescribeOptions,
  paint: Colors,
): string[] {
  const { podIPs, startTime } = pod.status;
  const state = stateOf(pod);
  const words = reason === null || reason.reason === state ? [] : [reason.reason];
  const why = [...words, ...(reason?.message === undefined ? [] : [reason.message])].join(': ');
  const rows: (readonly [string, string])[] = [
    ['source', pod.origin ?? (pod.source === 'api' ? 'API server' : pod.source)],
    ['node', `${node}, ${runtime}`],
    [
      'labels',
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
    ],
    [
      'started',
      startTime === undefined ? '' : `${startTime} (${formatAge(now - Date.parse(startTime))} ago)`,
    ],
    ['restarts', `policy ${spec.restartPolicy}`],
    ['addresses', podIPs.map(({ ip }) => ip).join(' ')],
    ['status', why === '' ? state : `${state}: ${why}`],
  ];
  const lines = rows
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${paint.dim(label.padEnd(9))}  ${text}`);
  return [paint.bold(`pod/${fullName(pod)}`), ...lines];
}

function describeContainers(
  containers: readonly Container[],
  statuses: PodStatus['containerStatuses'],
  paint: Colors,
): string[] {
  return containers.flatMap((container) => {
    const status = statuses.find(({ name }) => name === container.name);
    const command = [...(container.command ?? []), ...(container.args ?? [])]
      .join(' ')
      .replaceAll(/\s+/g, ' ');
    const state = status === undefined ? 'not known yet' : describeState(status);
    return [
      `${paint.bold(container.name)}: ${status?.ready === true ? paint.green(state) : paint.yellow(state)}`,
      `  image ${container.image}${command === '' ? '' : `, command ${shorten(command)}`}`,
      ...describeProbes(container).map((probe) => `  ${probe}`),
    ];
  });
}

/** Scripts stand in commands. */
const shorten = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 59)}…`);

function describeConditions(
  { conditions }: PodStatus,
  { now, width }: DescribeOptions,
  paint: Colors,
): string[] {
  const head = [
    'TYPE',
    { title: 'STATUS', cut: 'never' },
    { title: 'SINCE', cut: 'never' },
    { title: 'WHY', importance: 9 },
  ] as const;
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime: since }) => [
    type,
    status === 'True' ? paint.green(status) : paint.yellow(status),
    since === undefined ? '-' : formatAge(now - Date.parse(since)),
    [reason, message].filter((text) => text !== undefined).join(': ') || '-',
  ]);
  return rows.length === 0 ? [] : renderTable({ head, rows }, paint, width - 2);
}

/** As the node agent has it; with what compares it with the kernel. */
function describeNetwork({ network, pod }: PodDocument, paint: Colors): string[] {
  const { attachment, mtu, problem } = network;
  if (attachment === null) return [problem ?? 'not known'];
  const { hostInterface, ifName, addresses, mac, portMappings, bandwidth, phase, warnings = [] } = attachment;
  const ports = describePorts(portMappings);
  const rates = describeRates(bandwidth);
  return [
    `network ${attachment.network}, ${phase}: ${hostInterface} on the node is ${ifName} in the pod, MAC ${mac}${mtu === null ? '' : `, MTU ${mtu}`}`,
    `addresses ${addresses.join(' ')}${ports === '-' ? '' : `, host ports ${ports}`}${rates === '-' ? '' : `, rates ${rates}`}`,
    ...warnings.map((text) => `${paint.yellow('warning:')} ${text}`),
    `podwire explain ${fullName(pod)}   compares it with the kernel`,
  ];
}

function describeEvents({ pod }: PodDocument, { now, width }: DescribeOptions, paint: Colors): string[] {
  const head = [
    { title: 'LAST SEEN', cut: 'never', importance: 5 },
    { title: 'TYPE', cut: 'never', importance: 3 },
    { title: 'REASON', importance: 7 },
    { title: 'COUNT', right: true, importance: 2 },
    { title: 'MESSAGE', least: 20, importance: 9 },
  ] as const;
  const rows = pod.events.map(({ lastAt, type, reason, count, message }) => [
    formatAge(now - lastAt),
    type === 'Warning' ? paint.yellow(type) : type,
    reason,
    String(count),
    message,
  ]);
  return rows.length === 0 ? [] : renderTable({ head, rows }, paint, width - 2);
}
