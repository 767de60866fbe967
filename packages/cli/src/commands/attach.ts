import { compact } from '@podwire/platform';
import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod } from '../pods/names.js';

interface AttachOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Joins this terminal to the program that a container runs: what it writes from now on, and with -i its input, if its manifest has `stdin: true`. Ends with the program, or at Ctrl-C, which leaves the program running; with -it Ctrl-C is the program’s.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('-c, --container <name>', 'the container; by default the first one')
    .option('-i, --stdin', 'pass standard input')
    .option('-t, --tty', 'as a terminal: the container must have `tty: true`')
    .action((pod: string) => run(command, io, pod));
  addDirectory(command);
  addExamples(command, [
    ['podwire attach web', ''],
    ['podwire attach shop/shell -c main -it', ''],
  ]);
}

async function run(command: Command, io: Io, text: string): Promise<void> {
  const { namespace, container, stdin = false, tty = false } = optionsOf(command) as AttachOptions;
  const api = openLocatedPodApi(command, io);
  const pod = await findPod(api, text, namespace);
  const target = { namespace: pod.namespace, name: pod.name, ...compact({ container }) };
  const { url } = await api.post<{ url: string }>('/v1/attach', { ...target, tty, stdin });
  const [{ openAttach }, { terminalSizes, withRawTerminal }] = await Promise.all([
    import('@podwire/cri-streaming'),
    import('../pods/streams.js'),
  ]);
  await untilInterrupted(io, async (signal) => {
    const over = new AbortController();
    const streams = {
      stdout: process.stdout,
      ...(stdin ? { stdin: process.stdin } : {}),
      ...(tty ? { sizes: terminalSizes(over.signal) } : { stderr: process.stderr }),
    };
    try {
      await withRawTerminal(tty && stdin, () => openAttach(url, { ...streams, tty, signal }));
    } finally {
      over.abort();
    }
  });
}
