/** `podwire config reload`: asks a running agent to load its configuration again. */
import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { ConfigurationView } from '../api/shapes.js';
import { addAgent, addExamples, addOutput, outputOf } from '../command.js';
import { type Colors, colorsFor, exitCodes, type Io, printable, writeJson, writeLines } from '../io.js';
import { describeLoaded } from '../render/configuration.js';

export function defineReload(parent: Command, io: Io): void {
  const command = parent
    .command('reload')
    .summary('let the agent load its file again')
    .description(
      'Lets the running node agent load its configuration again, as SIGHUP does, and says what has changed. What cannot be changed while pods run is named and waits for a restart.',
    )
    .action(() => reload(command, io));
  addOutput(addAgent(command));
  addExamples(command, [
    ['podwire config reload', ''],
    [
      'podwire config reload -o json',
      '{"file","hash","loadedAt","applied":[…],"waiting":[{"path","reason"}],…}',
    ],
  ]).addHelpText(
    'after',
    '\nExit code 1: the file is invalid, the agent goes on as before. 4: something waits for a restart.',
  );
}

async function reload(command: Command, io: Io): Promise<void> {
  const api = await openLocatedApi(command, io);
  const view = await api.post<ConfigurationView>('/v1/reload', {});
  if (view.waiting.length > 0) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') return writeJson(io, view);
  writeLines(io, describeReload(view, io.now(), colorsFor(io, io.stdout)));
}

function describeReload(view: ConfigurationView, now: number, paint: Colors): string[] {
  const { applied, waiting } = view;
  const nothing = applied.length + waiting.length === 0 ? ['nothing has changed'] : [];
  return [
    describeLoaded(view, now),
    ...nothing,
    ...applied.map((path) => `${paint.green('changed')}  ${printable(path)}`),
    ...waiting.map(({ path, reason }) => `${paint.red('waiting')}  ${printable(`${path}: ${reason}`)}`),
  ];
}
