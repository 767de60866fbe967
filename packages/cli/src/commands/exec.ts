import { compact } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod } from '../pods/names.js';

interface ExecOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Runs a program in a running container, attached to this terminal. Exits with the exit code of the program.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .argument('<argv...>', 'the program and its arguments, behind --')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('-c, --container <name>', 'the container; by default the first one')
    .option('-i, --stdin', 'pass standard input')
    .option('-t, --tty', 'allocate a terminal')
    .passThroughOptions()
    // Options that follow are the program's; commander leaves the -- in front of them.
    .action((pod: string, argv: string[]) => run(command, io, pod, argv[0] === '--' ? argv.slice(1) : argv));
  addDirectory(command);
  addExamples(command, [
    ['podwire exec web -- ip addr', ''],
    ['podwire exec -it shop/web -- sh', ''],
    ['echo hello | podwire exec -i web -- cat', ''],
  ]);
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
  } finally {
    over.abort();
  }
}
