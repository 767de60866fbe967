/** Policy as lines of text. */
import type {
  ConnectionVerdict,
  DirectionView,
  Drop,
  Explanation,
  HostPolicyView,
  PodPolicyView,
  PolicyView,
} from '@podwire/agent';
import { type Colors, printable } from '../io.js';
import { wrapText } from '../render/text.js';
import type { ProbeOutcome } from './probe.js';

export function renderPolicy(view: PolicyView, paint: Colors, width: number): string[] {
  const { objects, policies, endpoints, pods, nodes, sets, members } = view.counts;
  const state = view.inForce
    ? paint.green('in force')
    : paint.yellow(view.known ? 'not in force yet' : 'not known yet');
  const { lastChange } = view;
  return [
    `policies of ${printable(view.source)}: ${state}${view.revision === null ? '' : `, revision ${view.revision}`}`,
    `${objects} objects, ${policies} policies, ${endpoints} endpoints of this node`,
    `${pods} pods and ${nodes} nodes known, ${sets} sets with ${members} members`,
    ...(lastChange === null
      ? []
      : [
          `last change: ${lastChange.resources} resources, ${rounded(lastChange.compile)} ms to compile, ${rounded(lastChange.exchange)} ms in the kernel`,
        ]),
    ...(view.problem === null
      ? []
      : wrapText(`${paint.red('problem')}  ${printable(view.problem)}`, width, 9)),
    ...view.problems.flatMap(({ object, message }) =>
      wrapText(`${paint.red('problem')}  ${printable(object)}: ${printable(message)}`, width, 9),
    ),
  ];
}

const rounded = (milliseconds: number): string => `${Math.round(milliseconds * 10) / 10}`;

export function renderPodPolicy(name: string, view: PodPolicyView, paint: Colors): string[] {
  return [
    paint.bold(`pod/${printable(name)}`),
    ...renderDirection('ingress', view.ingress, paint),
    ...renderDirection('egress', view.egress, paint),
  ];
}

export function renderHostPolicy(view: HostPolicyView, paint: Colors): string[] {
  return [
    `${paint.bold(`hostendpoint/${printable(view.hostEndpoint)}`)}  ${describeLink(view, paint)}`,
    ...renderDirection('ingress', view.ingress, paint),
    ...renderDirection('egress', view.egress, paint),
  ];
}

function describeLink({ link, supersededBy }: HostPolicyView, paint: Colors): string {
  if (link === null) return paint.yellow('not in force: no link has its addresses');
  const name = link === '*' ? 'all links without one of their own' : `link ${printable(link)}`;
  if (supersededBy === null) return name;
  return paint.yellow(`${name}, not in force: hostendpoint/${printable(supersededBy)} is`);
}

const modes = {
  forward: 'also for what passes through',
  'pre-dnat': 'in front of translation',
  untracked: 'without tracking',
} as const;

const modeOf = (mode: keyof typeof modes | undefined): string =>
  mode === undefined ? '' : `  (${modes[mode]})`;

function renderDirection(title: string, { isOpen, tiers, end }: DirectionView, paint: Colors): string[] {
  if (isOpen) return [`${title}: ${paint.green('open')}, no policy governs it`];
  return [
    `${title}:`,
    ...tiers.flatMap(({ tier, end: tierEnd, policies }) => [
      `  tier ${printable(tier)}`,
      ...policies.flatMap(({ object = '', file, line, rules, broken, hostMode }) => [
        `    ${paint.bold(printable(object))}${modeOf(hostMode)}${placeOf(file, line)}`,
        ...(broken === undefined ? [] : [`      ${paint.red('broken')}: ${printable(broken)}`]),
        ...rules.map(
          (rule) =>
            `      ${rule.action.padEnd(5)} ${rule.path}${rule.line === undefined ? '' : ` (line ${rule.line})`}`,
        ),
      ]),
      `    end: ${tierEnd}`,
    ]),
    `  then ${end}`,
  ];
}

const placeOf = (file: string | undefined, line: number | undefined): string =>
  file === undefined ? '' : `  ${printable(file)}${line === undefined ? '' : `:${line}`}`;

export function renderExplanation(
  explanation: Explanation,
  probes: readonly ProbeOutcome[],
  paint: Colors,
): string[] {
  const { from, to } = explanation;
  return [
    `${printable(from)} to ${printable(to)}: ${paintVerdict(explanation.verdict, paint)}`,
    ...explanation.connections.flatMap((each) => renderConnection(each, paint)),
    ...probes.map((each) => renderProbe(each, paint)),
  ];
}

function renderProbe({ destination, found, agrees }: ProbeOutcome, paint: Colors): string {
  if (agrees === null)
    return paint.yellow(`  probe ${destination}: ${found}; a program that reads UDP need not answer`);
  return agrees
    ? `  probe ${destination}: ${found}, as expected`
    : paint.red(`  probe ${destination}: ${found}, which policy does not say`);
}

function renderConnection(each: ConnectionVerdict, paint: Colors): string[] {
  const { source, destination, protocol, port, verdict, object, path, file, line } = each;
  const what = `${source} to ${destination}, ${port === undefined ? protocol : `${port}/${protocol}`}`;
  const why =
    object === undefined
      ? describeReason(each)
      : `${printable(object)}${path === undefined ? '' : ` ${path}`}`;
  const end = object !== undefined && each.reason !== 'rule' ? ` (${describeReason(each)})` : '';
  return [`  ${what}: ${paintVerdict(verdict, paint)} by ${why}${end}${placeOf(file, line)}`];
}

const paintVerdict = (verdict: string, paint: Colors): string =>
  verdict === 'allow' ? paint.green(verdict) : paint.red(verdict);

function describeReason({ reason, tier }: ConnectionVerdict): string {
  if (reason === 'end-of-tier') return `the end of tier ${printable(tier ?? 'default')}: no rule matches`;
  if (reason === 'same-node') return 'the node, whose own pods it always reaches';
  if (reason === 'failsafe') return 'a failsafe port, which no policy closes';
  if (reason === 'broken') return 'a policy that cannot be read';
  if (reason === 'apart') return 'their projects, which the model of the network keeps apart';
  if (reason === 'unenforced') return 'the model of the network, which enforces no policy';
  return reason === 'rule' ? 'a rule' : 'default: no policy decides';
}

export function renderDrop(drop: Drop, paint: Colors): string {
  const { time, from = '?', to = '?', direction, inputLink, suppressed = 0 } = drop;
  const parts = [
    `${time}  ${printable(from)} to ${printable(to)}${portOf(drop)}`,
    `${paint.red('dropped')} by ${printable(dropperOf(drop))}`,
  ];
  const where = [direction, inputLink === undefined ? undefined : `came in by ${printable(inputLink)}`];
  const more = suppressed === 0 ? '' : paint.yellow(` (${suppressed} more not shown)`);
  return `${[parts.join('  '), ...where.filter((each) => each !== undefined)].join(', ')}${more}`;
}

function portOf({ protocol, destinationPort }: Drop): string {
  if (protocol === undefined) return '';
  if (destinationPort !== undefined) return ` ${destinationPort}/${protocol}`;
  return typeof protocol === 'number' ? ` protocol ${protocol}` : ` ${protocol}`;
}

function dropperOf({ policy, tier, reason }: Drop): string {
  if (reason === 'broken') return `${policy ?? 'a policy'}, which cannot be read`;
  const ofTier = reason === 'end-of-tier' && tier !== undefined ? `the end of tier ${tier}` : undefined;
  return policy ?? ofTier ?? reason ?? 'policy';
}
