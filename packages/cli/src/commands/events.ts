import type { PodEventRecord } from '@podwire/podlet';
import { type Command, Option } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import { colorsFor, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { selectEvents } from '../pods/events.js';

interface EventsOptions {
  readonly namespace?: string;
  readonly watch?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists what happened to pods, the latest last. The pod agent keeps the latest thousand events, of a pod that has ended for an hour.',
    )
    .argument('[pod]', 'NAME, NAMESPACE/NAME, or pod/NAME; all pods when absent')
    .option('-n, --namespace <name>', 'only pods of this namespace')
    .addOption(new Option('-w, --watch', 'go on with those to come, until Ctrl-C'))
    .action((pod: string | undefined) => show(command, io, pod));
  addDirectory(addOutput(command));
  addExamples(command, [
    ['podwire events', ''],
    ['podwire events shop/web -w', 'of one pod, and those to come'],
    ['podwire events -o json', '{"events":[…]}; with -w one document a line'],
  ]);
}

async function show(command: Command, io: Io, pod: string | undefined): Promise<void> {
  const { namespace, watch } = optionsOf(command) as EventsOptions;
  const wanted = selectEvents(pod, namespace);
  if (watch === true) return follow(command, io, wanted);
  const all = await openLocatedPodApi(command, io).get<{ events: PodEventRecord[] }>('/v1/events');
  const events = all.events.filter(wanted);
  if (outputOf(command) === 'json') return writeJson(io, { events });
  if (events.length === 0) return void io.stderr.write('no events\n');
  const { renderEventTable } = await import('../render/events.js');
  return writeLines(
    io,
    renderEventTable(events, { now: io.now(), width: widthOf(io) }, colorsFor(io, io.stdout)),
  );
}

async function follow(command: Command, io: Io, wanted: (event: PodEventRecord) => boolean): Promise<void> {
  const isJson = outputOf(command) === 'json';
  const { renderEventLine } = await import('../render/events.js');
  const paint = colorsFor(io, io.stdout);
  const api = openLocatedPodApi(command, io);
  await untilInterrupted(io, async (signal) => {
    for await (const event of api.lines<PodEventRecord>('/v1/events/watch', signal)) {
      if (!wanted(event)) continue;
      io.stdout.write(`${isJson ? JSON.stringify(event) : renderEventLine(event, paint)}\n`);
    }
  });
}
