import type { Command } from 'commander';
import { locateAgent, openAgentApi } from '../api/locate.js';
import { addAgent, addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { addDirectory, locateDirectory, openLocatedPodApi, placesIn } from '../pods/locate.js';
import { findPod } from '../pods/names.js';

interface DescribeOptions {
  readonly namespace?: string;
  readonly socket?: string;
  readonly config?: string;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows all that is known of a pod: its containers, conditions, volumes, network and events, why it is not ready, and what to do. It works without the node agent, too.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .action((pod: string) => show(command, io, pod));
  addDirectory(addOutput(addAgent(command)));
  addExamples(command, [
    ['podwire describe pod/web', ''],
    ['podwire describe shop/web -o json', '{"pod":…,"spec":…,"network":…,"reason":…,"advice":[…]}'],
  ]);
}

async function show(command: Command, io: Io, text: string): Promise<void> {
  const options = optionsOf(command) as DescribeOptions;
  const podAgent = openLocatedPodApi(command, io);
  const pod = await findPod(podAgent, text, options.namespace);
  const { describePod } = await import('../pods/describe.js');
  const document = await describePod(
    podAgent,
    openAgentApi({ socket: await findSocket(command, io, options) }),
    pod,
  );
  if (outputOf(command) === 'json') return writeJson(io, document);
  const { renderPodDocument } = await import('../render/describe.js');
  const view = { now: io.now(), width: widthOf(io) };
  return writeLines(io, renderPodDocument(document, view, colorsFor(io, io.stdout)));
}

/** That of the pod agent's directory, unless another is named. */
async function findSocket(command: Command, io: Io, { socket, config }: DescribeOptions): Promise<string> {
  const isNamed = socket !== undefined || config !== undefined || (io.env['PODWIRE_SOCKET'] ?? '') !== '';
  return isNamed ? locateAgent(command, io) : placesIn(locateDirectory(command, io)).agentApi;
}
