/** `podwire ps` and `podwire pods`: one list, of both agents. */
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodChange } from '@podwire/podlet';
import type { Command } from 'commander';
import { locateAgent, openAgentApi } from '../api/locate.js';
import { addAgent, addOutput, optionsOf } from '../command.js';
import { colorsFor, exitCodes, type Io, printable, widthOf } from '../io.js';
import { addWatch } from '../output/show.js';
import type { View } from '../output/view.js';
import { joinPods, type PodList, type PodRow, readPodList } from './list.js';
import { addDirectory, locateDirectory, openPodApi, placesIn } from './locate.js';
import { renderProblems, summarizeProblems } from './problems.js';

export function addListOptions(command: Command): Command {
  command
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .option('-A, --all-namespaces', 'pods of all namespaces; so it is without -n too');
  return addDirectory(addAgent(addOutput(addWatch(command), ['text', 'wide', 'name', 'json'])));
}

interface ListOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly directory?: string;
  readonly socket?: string;
  readonly config?: string;
}

/** The agents that are asked. */
interface Agents {
  /** Undefined: another node's agent was named, whose pods are not those of the pod agent here. */
  readonly podAgent: LocalApi | undefined;
  readonly nodeAgent: LocalApi;
}

async function openAgents(command: Command, io: Io): Promise<Agents> {
  const { directory, socket, config } = optionsOf(command) as ListOptions;
  const namesDirectory = directory !== undefined || (io.env['PODWIRE_DIRECTORY'] ?? '') !== '';
  const namesAgent = socket !== undefined || config !== undefined || (io.env['PODWIRE_SOCKET'] ?? '') !== '';
  const places = placesIn(locateDirectory(command, io));
  return {
    podAgent: namesAgent && !namesDirectory ? undefined : openPodApi(places.podSocket),
    nodeAgent: openAgentApi({ socket: namesAgent ? await locateAgent(command, io) : places.agentApi }),
  };
}

interface Shown extends PodList {
  readonly rows: readonly PodRow[];
}

/** @param needed the agent without which there is no list */
export async function openPodView(
  command: Command,
  io: Io,
  needed: 'either' | 'node agent',
): Promise<View<Shown>> {
  const { namespace, allNamespaces } = optionsOf(command) as ListOptions;
  const wanted = allNamespaces === true ? undefined : namespace;
  const { podAgent, nodeAgent } = await openAgents(command, io);
  return {
    read: async () => choose(await readPodList(podAgent, nodeAgent, needed), wanted),
    data: ({ pods, problems, endpoints, absent }) => ({ pods, problems, endpoints, absent }),
    names: ({ rows }) => rows.map(({ target }) => target),
    notes: describeNotes,
    lines: async ({ rows }) => {
      if (rows.length === 0) return [];
      const { renderPodTable } = await import('./table.js');
      const options = { now: io.now(), width: widthOf(io), wide: io.format === 'wide' };
      return renderPodTable(rows, options, colorsFor(io, io.stdout));
    },
    watch: {
      rows: ({ rows }) => rows,
      ...(podAgent === undefined ? {} : { follow: (wake, signal) => followChanges(podAgent, wake, signal) }),
    },
  };
}

function choose({ pods, endpoints, ...rest }: PodList, namespace: string | undefined): Shown {
  const isWanted = (other: string | undefined): boolean => namespace === undefined || other === namespace;
  const chosen = {
    pods: pods.filter((pod) => isWanted(pod.namespace)),
    endpoints: endpoints.filter(({ pod }) => isWanted(pod.namespace)),
  };
  return { ...rest, ...chosen, rows: joinPods(chosen) };
}

function describeNotes({ rows, problems, absent }: Shown): string[] {
  const missing = { 'pod agent': 'attachments alone', 'node agent': 'without links and host ports' };
  return [
    ...summarizeProblems(problems),
    ...absent.map(({ agent, message }) => printable(`${missing[agent]}: ${message}`)),
    ...(rows.length === 0 ? ['no pods'] : []),
  ];
}

/** `ps --problems`: what is wrong with manifests instead of the pods. */
export function ofProblems(view: View<Shown>, io: Io): View<Shown> {
  return {
    read: view.read,
    data: ({ problems }) => ({ problems }),
    notes: ({ problems }) => (problems.length === 0 ? ['no problems'] : []),
    lines: ({ problems }) => renderProblems(problems),
    evaluate: ({ problems }) => {
      if (problems.length > 0) io.exitCode = exitCodes.notAsItShould;
    },
  };
}

async function followChanges(podAgent: LocalApi, wake: () => void, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of podAgent.lines<PodChange>('/v1/watch', signal)) wake();
  } catch (error) {
    // Each reading reports if the pod agent is there.
    if (!(error instanceof PodwireError) && !signal.aborted) throw error;
  }
}
