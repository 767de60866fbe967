import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { EndpointView, ExplainedResource } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import {
  type Colors,
  colorsFor,
  exitCodes,
  type Io,
  printable,
  widthOf,
  writeJson,
  writeLines,
} from '../io.js';
import { nameOf } from '../pods/list.js';
import { describePorts, describeRates } from '../render/endpoints.js';
import { openLocatedPodApi } from '../pods/locate.js';
import { explainUnknown } from '../pods/not-started.js';
import { readTarget } from './target.js';

/** Answer of the agent for an endpoint; for the node it has `owner` and `resources` only. */
export interface Explanation extends Partial<EndpointView> {
  readonly owner?: 'node';
  readonly resources: readonly ExplainedResource[];
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Compares the recorded resources of a pod (or of the node) with the kernel, and marks differences. Of a kind of objects, says what its fields mean. Read-only.',
    )
    .argument('<target>', 'pod/NAME, pod/NAMESPACE/NAME, a container id, node; or KIND, KIND.FIELD.FIELD')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('--drift', 'only what differs')
    .action((target: string) => explain(command, io, target));
  addOutput(addAgent(command), ['text', 'wide', 'json']);
  addExamples(command, [
    ['podwire explain pod/shop/web', ''],
    ['podwire explain web --drift', 'a name alone will do when it is the only one'],
    ['podwire explain node', 'what all pods of this node share'],
    ['podwire explain netpol.spec.ingress', 'fields of a kind; a pod of such a name is pod/NAME'],
    ['podwire explain pod/web -o json', '{"key":…,"resources":[{"resource":…,"state":"ok"},…]}'],
  ]).addHelpText('after', '\nExit code 4: something differs.');
}

async function explain(command: Command, io: Io, target: string): Promise<void> {
  if (target === 'node' || target.includes('/')) return show(command, io, target);
  const { explainKind, readExplainTarget } = await import('../objects/explain-kind.js');
  const kind = readExplainTarget(target);
  return kind === undefined ? show(command, io, target) : explainKind(io, outputOf(command), kind);
}

async function show(command: Command, io: Io, target: string): Promise<void> {
  const { namespace, drift } = optionsOf(command) as { namespace?: string; drift?: boolean };
  const api = await openLocatedApi(command, io);
  const path = `/v1/explain/${encodeURIComponent(readTarget(target, namespace))}`;
  const explanation = await api.get<Explanation>(path).catch(async (error: unknown) => {
    throw await explainUnknown(error, openLocatedPodApi(command, io), readTarget(target, namespace));
  });
  if (countDrift(explanation) > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, explanation);
  const { renderExplained } = await import('../render/resources.js');
  const paint = colorsFor(io, io.stdout);
  const { resources } = explanation;
  const shown = drift === true ? resources.filter(({ state }) => state !== 'ok') : resources;
  return writeLines(io, [
    ...describeSubject(explanation, paint),
    ...(shown.length === 0 ? [] : ['', ...renderExplained(shown, paint, widthOf(io))]),
    '',
    ...conclude(explanation, paint),
  ]);
}

const countDrift = ({ resources }: Explanation): number =>
  resources.filter(({ state }) => state !== 'ok').length;

function describeSubject(explanation: Explanation, paint: Colors): string[] {
  if (explanation.owner === 'node') return [paint.bold('the node')];
  const {
    phase,
    network,
    addresses,
    hostInterface,
    ifName,
    portMappings,
    bandwidth,
    warnings = [],
  } = explanation as EndpointView;
  const ports = describePorts(portMappings);
  const rates = describeRates(bandwidth);
  return [
    `${paint.bold(printable(nameOf(explanation as EndpointView)))}: ${phase}, network ${printable(network)}, ${hostInterface} on the node is ${ifName} in the pod`,
    `addresses ${addresses.join(' ')}${ports === '-' ? '' : `, host ports ${ports}`}${rates === '-' ? '' : `, rates ${rates}`}`,
    ...warnings.map((text) => `${paint.yellow('warning:')} ${printable(text)}`),
  ];
}

/** Meaning of the explanation, and the next step. */
function conclude(explanation: Explanation, paint: Colors): string[] {
  const { resources, phase } = explanation;
  const drifted = countDrift(explanation);
  if (phase !== undefined && phase !== 'ready') {
    return [
      `It is ${phase}: the request is under way, or was interrupted and is finished by the next reconcile.`,
    ];
  }
  if (drifted === 0) return [paint.green(`All ${resources.length} are in the kernel as planned.`)];
  return [
    paint.red(
      `${drifted} of ${resources.length} ${drifted === 1 ? 'differs' : 'differ'}: something else on this node has changed or removed ${drifted === 1 ? 'it' : 'them'}.`,
    ),
    `${paint.bold('what to do:')} "podwire reconcile" repairs it now; the agent does so by itself at its next round (reconcileInterval).`,
    'If it comes back, look for another program that manages the same links, routes or tables.',
  ];
}
