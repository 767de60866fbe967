import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { Trace, TracesView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, printable, writeJson, writeLines } from '../io.js';
import { addDirectory, locateDirectory, openLocatedPodApi, placesIn } from '../pods/locate.js';
import { choosePod, type PodsView } from '../pods/names.js';
import type { PodView } from '@podwire/podlet';
import { openAgentApi } from '../api/locate.js';
import { isAbout, readTarget } from './target.js';

interface TraceOptions {
  readonly namespace?: string;
  readonly verb?: string;
  readonly full?: boolean;
  readonly list?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows durations: for a pod of `podwire up` from its manifest to its first container, down to each resource of its network; for any other pod those of its latest CNI request. The agent keeps the latest requests in memory (limits.traces).',
    )
    .argument('<target>', 'pod/NAME, pod/NAMESPACE/NAME, a container id, #NUMBER, or last')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('--verb <verb>', 'the latest ADD, DEL, CHECK, GC or STATUS')
    .option('--full', 'every resource by itself')
    .option('--list', 'one line for each request that is kept')
    .action((target: string) => show(command, io, target));
  addDirectory(addOutput(addAgent(command)));
  addExamples(command, [
    ['podwire trace pod/shop/web', ''],
    ['podwire trace last --verb add --full', 'the latest ADD of any pod, in all detail'],
    ['podwire trace web --list', 'what is kept about a pod'],
    ['podwire trace last -o json', 'times in milliseconds; with --list {"traces":[…]}'],
  ]);
}

/** More than any agent keeps. */
const all = 100_000;

async function show(command: Command, io: Io, target: string): Promise<void> {
  const options = optionsOf(command) as TraceOptions;
  const pod =
    options.list === true || options.verb !== undefined
      ? undefined
      : await findOwnPod(command, io, target, options);
  return pod === undefined ? showRequests(command, io, target, options) : showPod(command, io, pod, options);
}

/** A pod that the pod agent of this machine runs; undefined when there is no such pod, or no pod agent. */
async function findOwnPod(
  command: Command,
  io: Io,
  target: string,
  { namespace }: TraceOptions,
): Promise<PodView | undefined> {
  if (!target.startsWith('pod/')) return undefined;
  try {
    const { pods } = await openLocatedPodApi(command, io).get<PodsView>('/v1/pods');
    return choosePod(pods, target, namespace);
  } catch (error) {
    const absent = ['PODLET_UNREACHABLE', 'POD_UNKNOWN'];
    if (error instanceof PodwireError && absent.includes(error.code)) return undefined;
    throw error;
  }
}

async function showPod(command: Command, io: Io, pod: PodView, { full }: TraceOptions): Promise<void> {
  const [{ readPodTrace }, { renderPodTrace }] = await Promise.all([
    import('../pods/trace.js'),
    import('../render/pod-trace.js'),
  ]);
  const { socket } = optionsOf(command) as { socket?: string };
  const agent = openAgentApi({ socket: socket ?? placesIn(locateDirectory(command, io)).agentApi });
  const trace = await readPodTrace(openLocatedPodApi(command, io), pod, agent);
  if (outputOf(command) === 'json') return writeJson(io, trace);
  const options = {
    name: `${pod.namespace}/${pod.name}`,
    width: io.stdout.columns ?? 100,
    full: full === true,
  };
  return writeLines(io, renderPodTrace(trace.spans, options, colorsFor(io, io.stdout)));
}

async function showRequests(command: Command, io: Io, target: string, options: TraceOptions): Promise<void> {
  const api = await openLocatedApi(command, io);
  const { traces } = await api.get<TracesView>(`/v1/traces?limit=${all}`);
  const found = selectTraces(traces, target, options);
  const latest = found.at(-1);
  if (latest === undefined) throw nothingFound(target, options);
  if (outputOf(command) === 'json') return writeJson(io, options.list === true ? { traces: found } : latest);
  const { renderHeading, renderTrace } = await import('../render/trace.js');
  const paint = colorsFor(io, io.stdout);
  if (options.list === true)
    return writeLines(
      io,
      found.map((trace) => renderHeading(trace, paint)),
    );
  const width = io.stdout.columns ?? 100;
  return writeLines(io, renderTrace(latest, { width, full: options.full === true }, paint));
}

/** Oldest first. `last` leaves out what concerns no pod (STATUS every few seconds), unless that is asked for. */
export function selectTraces(traces: readonly Trace[], target: string, options: TraceOptions): Trace[] {
  const verb = options.verb?.toUpperCase();
  const ofVerb = traces.filter(({ command }) => verb === undefined || command === verb);
  const number = /^#(\d+)$/.exec(target)?.[1];
  if (number !== undefined) return ofVerb.filter(({ id }) => id === Number(number));
  if (target === 'last') return ofVerb.filter(({ endpoint }) => verb !== undefined || endpoint !== undefined);
  const name = readTarget(target, options.namespace);
  return ofVerb.filter((trace) => isAbout(trace, name));
}

function nothingFound(target: string, { verb }: TraceOptions): PodwireError {
  const what = verb === undefined ? 'request' : verb.toUpperCase();
  const whom = target === 'last' ? '' : ` about ${printable(target)}`;
  return new PodwireError('TRACE_UNKNOWN', `the agent remembers no ${what}${whom}`);
}
