import type { Command } from 'commander';
import { locateAgent, openAgentApi } from '../api/locate.js';
import { addExamples, addOutput, addSocket, optionsOf, outputOf } from '../command.js';
import { colorsFor, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { addObjects } from '../objects/place.js';
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
      'Shows all that is known of a pod: its containers, conditions, volumes, network and events, why it is not ready, and what to do. It works without the node agent, too. Of a policy or another object: its fields, where it comes from, and what nodes say about it.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME; an object: KIND/NAME, KIND/NAMESPACE/NAME')
    .argument('[name]', 'of an object, behind its kind')
    .option('-n, --namespace <name>', 'the namespace of the pod or object')
    .action((...words: [string, string | undefined]) => describe(command, io, words));
  addDirectory(addOutput(addSocket(addObjects(command))));
  addExamples(command, [
    ['podwire describe pod/web', ''],
    ['podwire describe netpol/shop/web', 'a NetworkPolicy'],
    ['podwire describe shop/web -o json', '{"pod":…,"spec":…,"network":…,"reason":…,"advice":[…]}'],
  ]);
}

async function describe(
  command: Command,
  io: Io,
  [first, name]: readonly [string, string | undefined],
): Promise<void> {
  const words = name === undefined ? [first] : [first, name];
  // Pods are asked for most, and need none of it.
  if (name === undefined && (!first.includes('/') || first.startsWith('pod/')))
    return show(command, io, first);
  const { describeObject, readObjectTarget } = await import('../objects/describe-object.js');
  const { namespace } = optionsOf(command) as DescribeOptions;
  const reference = readObjectTarget(words, namespace);
  if (reference !== undefined) return describeObject(command, io, outputOf(command), reference);
  if (name === undefined) return show(command, io, first);
  const { requireKind } = await import('@podwire/objects');
  requireKind(first);
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
