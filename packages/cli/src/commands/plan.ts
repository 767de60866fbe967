import { compact } from '@podwire/platform';
import type { AgentConfig } from '@podwire/agent';
import { PodwireError } from '@podwire/errors';
import { type Command, InvalidArgumentError } from 'commander';
import { openAgentApi } from '../api/locate.js';
import { locateAgent } from '../api/locate.js';
import type { Plan } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { type Colors, colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';
import { type PodManifest, readPodManifests, toCniInputs } from '../manifest.js';

interface PlanOptions {
  readonly offline?: boolean;
  readonly socket?: string;
  readonly config?: string;
  readonly mtu?: number;
}

/** Entry of `pods` in the output of `-o json`. */
export interface PodPlan extends Plan {
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly file: string;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Prints all resources that the pods of a manifest would get, and changes nothing. A running agent plans with the addresses and ports in use. Without one, or with --offline, the plan assumes an empty node and depends on the configuration and the manifest alone.',
    )
    .argument('<file...>', 'pod manifests or directories of them, as for up; - is standard input')
    .option('--offline', 'ask no agent')
    .option('--mtu <bytes>', 'with --offline: MTU of the uplink', readMtu)
    .action((files: string[]) => show(command, io, files));
  addOutput(addAgent(command), ['text', 'wide', 'json']);
  addExamples(command, [
    ['podwire plan examples/web.yaml', ''],
    ['podwire plan --offline --config agent.yaml pods.yaml', 'on any machine, without root'],
    ['kubectl get pod web -o yaml | podwire plan -', ''],
    [
      'podwire plan web.yaml -o json',
      '{"source":"agent"|"configuration","pods":[{"pod":…,"resources":[…]}]}',
    ],
  ]);
}

function readMtu(text: string): number {
  const mtu = Number(text);
  if (Number.isInteger(mtu) && mtu >= 576 && mtu <= 65_535) return mtu;
  throw new InvalidArgumentError('It must be a number of bytes from 576 to 65535.');
}

async function show(command: Command, io: Io, files: readonly string[]): Promise<void> {
  const manifests = readPodManifests(files);
  const { source, plans } = await makePlans(command, io, manifests);
  const pods = plans.map((plan, index): PodPlan => {
    const { namespace, name, file } = manifests[index]!;
    return { pod: { namespace, name }, file, ...plan };
  });
  if (outputOf(command) === 'json') return writeJson(io, { source, pods });
  const { renderResources } = await import('../render/resources.js');
  const paint = colorsFor(io, io.stdout);
  const blocks = pods.map((plan) => [
    ...describePlan(plan, paint),
    '',
    ...renderResources(plan.resources, paint, widthOf(io)),
  ]);
  return writeLines(io, [...blocks.flatMap((lines) => [...lines, '']), paint.dim(sourceNotes[source])]);
}

type Source = 'agent' | 'configuration';

const sourceNotes: Readonly<Record<Source, string>> = {
  agent:
    'Planned by the agent on what the node has now. Nothing was touched; the pod may get another address in the end.',
  configuration:
    'Planned for an empty node from the configuration alone. Nothing was touched, no agent was asked.',
};

async function makePlans(
  command: Command,
  io: Io,
  manifests: readonly PodManifest[],
): Promise<{ source: Source; plans: readonly Plan[] }> {
  const options = optionsOf(command) as PlanOptions;
  const bodies = manifests.map(toPlanBody);
  const asked = options.offline === true ? undefined : await askAgent(command, io, bodies, options);
  if (asked !== undefined) return { source: 'agent', plans: asked };
  const [{ loadConfig }, { planWithoutAgent }] = await Promise.all([
    import('@podwire/agent'),
    import('@podwire/agent/offline'),
  ]);
  const config: AgentConfig = loadConfig(options.config);
  const { mtu } = options;
  return {
    source: 'configuration',
    plans: planWithoutAgent(config, bodies, compact({ mtu })),
  };
}

/** Undefined when there is no agent; an agent that was named with `--socket` must be there. */
async function askAgent(
  command: Command,
  io: Io,
  bodies: readonly object[],
  { socket }: PlanOptions,
): Promise<readonly Plan[] | undefined> {
  const api = openAgentApi({ socket: await locateAgent(command, io) });
  try {
    return (await api.post<{ plans: readonly Plan[] }>('/v1/plan', bodies)).plans;
  } catch (error) {
    const isAbsent = error instanceof PodwireError && error.code === 'AGENT_UNREACHABLE';
    if (isAbsent && socket === undefined) return undefined;
    throw error;
  }
}

/** The body of POST /v1/plan: what a runtime would pass. */
export function toPlanBody(manifest: PodManifest): object {
  const containerId = `plan-${manifest.namespace}-${manifest.name}`;
  const { args, capabilityArgs } = toCniInputs(manifest, containerId);
  return {
    containerId,
    args: args.map(([key, value]) => `${key}=${value}`).join(';'),
    config: { runtimeConfig: capabilityArgs },
  };
}

function describePlan({ pod, file, network, addresses, node }: PodPlan, paint: Colors): string[] {
  const name = printable(`${pod.namespace}/${pod.name}`);
  return [
    `${paint.bold(`pod ${name}`)} ${paint.dim(`(${printable(file)})`)}: network ${printable(network)}, ${addresses.join(' ')}`,
    ...(node.length === 0 ? [] : [`the node gets ${node.length} more: the route of each new block`]),
  ];
}
