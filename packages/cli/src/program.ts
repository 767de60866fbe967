import { describeError } from '@podwire/errors';
import { Command, CommanderError } from 'commander';
import { catalog } from './catalog.js';
import { ownVersion } from './checkout.js';
import { addAgent, addEverywhere, addOutput, optionsOf, requireFormat } from './command.js';
import { exitCodeOf, InterruptedError, reportFailure } from './failure.js';
import { exitCodes, type Io } from './io.js';
import { type DocumentFormat, isDocument, isTemplate, loadDocumentFormat } from './output/document.js';
import { endWithLoop } from './stalled.js';

const exitCodeHelp = `
Exit codes:
  0  done
  1  it failed
  2  the command line is wrong
  3  no agent, or no store, answers
  4  it was done, and something is wrong: not ready, not as planned, not reachable`;

/**
 * Runs one command line to its end.
 * @param argv without the program's name: `['pods', '-o', 'json']`
 * @returns the exit code; nothing is thrown
 */
export async function runPodwire(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === '__complete') return completeNames(argv.slice(1), io);
  const given = { json: false, debug: false };
  try {
    const program = createProgram(io, given);
    await loadCommand(program, wantedCommand(argv), io);
    const work = program.parseAsync([...argv], { from: 'user' });
    await (io.loop === undefined ? work : endWithLoop(io.loop, work));
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // A closed pipe is no error.
    if (!(error instanceof InterruptedError && error.signal === 'SIGPIPE')) reportFailure(io, error, given);
    return exitCodeOf(error);
  }
  return io.exitCode;
}

/** For the completion scripts alone, so it is in no help. */
async function completeNames(words: readonly string[], io: Io): Promise<number> {
  const { complete } = await import('./completion/complete.js');
  return complete(words, io, { createProgram: createProgramWith, run: runPodwire });
}

async function createProgramWith(io: Io, name: string | undefined): Promise<Command> {
  const program = createProgram(io, { json: false, debug: false });
  await loadCommand(program, name, io);
  return program;
}

/** The program with all commands, each fully declared: for completion and for tests. */
export async function createWholeProgram(io: Io): Promise<Command> {
  const program = createProgram(io, { json: false, debug: false });
  for (const { name } of catalog) await loadCommand(program, name, io);
  return program;
}

function createProgram(io: Io, given: { json: boolean; debug: boolean }): Command {
  const program = new Command('podwire')
    .description('Runs pods and gives them their network: links, addresses, routes, host ports and rates.')
    .version(ownVersion(), '-V, --version', 'the version of this program')
    .helpOption('-h, --help', 'help for a command')
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(add --help for what is possible)')
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
    })
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', exitCodeHelp)
    .hook('preAction', async (_program, action) => {
      const { color, debug } = optionsOf(action);
      io.color = color !== false;
      given.debug = debug === true;
      io.format = requireFormat(action);
      if (isDocument(io.format)) io.writeDocument = await loadFormat(action, io.format);
      // A template finds nothing in an error.
      given.json = isDocument(io.format) && !isTemplate(io.format);
    });
  addEverywhere(addAgent(addOutput(program, ['text', 'wide', 'name', 'json'])));
  // No action of its own: without a command the help is the answer.
  for (const { name, summary, group } of catalog) {
    program.addCommand(program.createCommand(name).summary(summary).description(summary).helpGroup(group));
  }
  program.addHelpCommand(
    program.createCommand('help').argument('[command]').summary('help for a command').helpGroup('More:'),
  );
  return program;
}

async function loadFormat(action: Command, format: string): Promise<DocumentFormat> {
  try {
    return await loadDocumentFormat(format);
  } catch (error) {
    return action.error(`error: -o ${format}: ${describeError(error)}`, { exitCode: exitCodes.usage });
  }
}

/** The first word that is no option; behind `help`, the next one. */
function wantedCommand(argv: readonly string[]): string | undefined {
  const takesValue = new Set(['-o', '--output', '--socket', '--config']);
  const words = argv.filter((word, index) => !word.startsWith('-') && !takesValue.has(argv[index - 1] ?? ''));
  return words[0] === 'help' ? words[1] : words[0];
}

async function loadCommand(program: Command, name: string | undefined, io: Io): Promise<void> {
  const entry = catalog.find((each) => each.name === name);
  const command = program.commands.find((each) => each.name() === name);
  if (entry === undefined || command === undefined) return;
  const module = await entry.load();
  command.copyInheritedSettings(program);
  module.define(command, io, () => createWholeProgram(io));
  for (const leaf of leavesOf(command)) addEverywhere(leaf);
}

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
