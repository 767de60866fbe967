import { compact } from '@podwire/platform';
import type { PodView } from '@podwire/podlet';
import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { colorsFor, type Io, printable } from '../io.js';
import { explainStartFailure } from '../pods/exec-failure.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod, fullName } from '../pods/names.js';

interface ExecOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs a program in a running container, attached to this terminal. Options stand before or behind the name of the pod; everything behind -- is the program and its arguments. Exits with the exit code of the program.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .argument('<argv...>', 'the program and its arguments, behind --')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('-c, --container <name>', 'the container; by default the first one')
    .option('-i, --stdin', 'pass standard input')
    .option('-t, --tty', 'allocate a terminal')
    .passThroughOptions()
    .action((pod: string, words: string[]) => run(command, io, pod, readProgram(command, words)));
  addDirectory(command);
  addExamples(command, [
    ['podwire exec web -- ip addr', ''],
    ['podwire exec web -c sidecar -n shop -- ls -l', ''],
    ['podwire exec -it shop/web -- sh', ''],
    ['echo hello | podwire exec -i web -- cat', ''],
  ]).addHelpText(
    'after',
    '\nExit code 127: the program was not found; 126: it cannot be executed; 128 + N: signal N ended it.',
  );
}

/**
 * The words after the pod's name: options of this command up to `--` or to the first word that is none, then the
 * program with options of its own.
 */
function readProgram(command: Command, words: readonly string[]): string[] {
  const { operands, unknown } = command.parseOptions([...words]);
  const [option] = unknown;
  if (option === '-h' || option === '--help') return command.help();
  if (option !== undefined) {
    return command.error(`error: exec has no option ${option}; put -- in front of a program of this name`);
  }
  if (operands.length === 0) return command.error('error: there is no program to run');
  return operands;
}

async function run(command: Command, io: Io, text: string, argv: readonly string[]): Promise<void> {
  const { namespace, container, stdin = false, tty: wantsTty = false } = optionsOf(command) as ExecOptions;
  const tty = wantsTty && process.stdin.isTTY === true;
  if (wantsTty && !tty) io.stderr.write('standard input is no terminal: -t is left out\n');
  const api = openLocatedPodApi(command, io);
  const pod = await findPod(api, text, namespace);
  const target = {
    namespace: pod.namespace,
    name: pod.name,
    ...compact({ container }),
  };
  const { url } = await api.post<{ url: string }>('/v1/exec', { ...target, argv, tty, stdin });
  const [{ openExec }, { terminalSizes, withRawTerminal }] = await Promise.all([
    import('@podwire/cri-streaming'),
    import('../pods/streams.js'),
  ]);
  const over = new AbortController();
  const streams = {
    stdout: process.stdout,
    ...(stdin ? { stdin: process.stdin } : {}),
    ...(tty ? {} : { stderr: process.stderr }),
    ...(tty ? { sizes: terminalSizes(over.signal) } : {}),
  };
  try {
    io.exitCode = await withRawTerminal(tty && stdin, () =>
      openExec(url, { ...streams, tty, signal: over.signal }),
    );
  } catch (error) {
    io.exitCode = tellStartFailure(io, { pod, container, argv }, error);
  } finally {
    over.abort();
  }
}

interface Wanted {
  readonly pod: PodView;
  readonly container: string | undefined;
  readonly argv: readonly string[];
}

/** @returns the exit code @throws the error when it is about something else than the program */
function tellStartFailure(io: Io, { pod, container, argv }: Wanted, error: unknown): number {
  const failure = explainStartFailure(error);
  if (failure === undefined) throw error;
  const where = `container ${container ?? pod.status.containerStatuses[0]?.name} of pod ${fullName(pod)}`;
  const words = `${argv[0]}: ${failure.reason} in ${where}`;
  io.stderr.write(`${colorsFor(io, io.stderr).red('error:')} ${printable(words)}\n`);
  return failure.exitCode;
}
