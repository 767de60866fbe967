import type { Command } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { colorsFor, type Io, printable } from '../io.js';
import { addDirectory, locateDirectory, openPodApi, placesIn } from '../pods/locate.js';
import { findPod } from '../pods/names.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Copies files and directories between this machine and a container, which needs a `tar`. Links in what comes out of a container are left out.',
    )
    .argument('<from>', 'a path here, or POD:PATH')
    .argument('<to>', 'POD:PATH, or a path here')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('-c, --container <name>', 'the container; by default the first one')
    .action((from: string, to: string) => run(command, io, from, to));
  addDirectory(command);
  addExamples(command, [
    ['podwire cp web:/etc/hosts ./hosts', ''],
    ['podwire cp ./site shop/web:/www -c httpd', 'into /www, or as /www where there is none'],
  ]);
}

interface InPod {
  readonly pod: string;
  readonly path: string;
}

/** `web:/x`, `shop/web:x`; a path of this machine with a colon begins with `/` or `.`. */
export function readPlace(text: string): InPod | undefined {
  const { pod, path } = /^(?<pod>[^:./][^:]*):(?<path>.+)$/s.exec(text)?.groups ?? {};
  return pod === undefined || path === undefined ? undefined : { pod, path };
}

async function run(command: Command, io: Io, from: string, to: string): Promise<void> {
  const [source, target] = [readPlace(from), readPlace(to)];
  const inPod = source ?? target;
  if (inPod === undefined || (source !== undefined && target !== undefined)) {
    const words = 'error: one of the two must be POD:PATH, the other a path here';
    return command.error(words, { exitCode: 2 });
  }
  const { namespace, container } = optionsOf(command) as { namespace?: string; container?: string };
  const { podSocket } = placesIn(locateDirectory(command, io));
  const paint = colorsFor(io, io.stderr);
  await withInterrupt(async (signal) => {
    const api = openPodApi(podSocket, { signal });
    const place = { api, pod: await findPod(api, inPod.pod, namespace), container };
    const { copyFromContainer, copyToContainer } = await import('../pods/copy.js');
    const warn = (words: string): void =>
      void io.stderr.write(`${paint.yellow('warning:')} ${printable(words)}\n`);
    const copy = { place, remote: inPod.path, local: source === undefined ? from : to, signal, warn };
    await (source === undefined ? copyToContainer(copy) : copyFromContainer(copy));
  });
}
