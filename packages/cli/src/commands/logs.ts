import { compact } from '@podwire/platform';
import { PodwireError } from '@podwire/errors';
import type { PodView } from '@podwire/podlet';
import { type Command, InvalidArgumentError } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod, fullName } from '../pods/names.js';

interface LogsOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tail?: number;
  readonly timestamps?: boolean;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Prints the log of a container: its standard output to standard output, its standard error to standard error.',
    )
    .argument('<pod>', 'NAME, NAMESPACE/NAME, or pod/NAME')
    .option('-n, --namespace <name>', 'the namespace of the pod')
    .option('-c, --container <name>', 'the container; by default the first one that is no init container')
    .option('-f, --follow', 'follow the log')
    .option('-p, --previous', 'the instance before the last restart')
    .option('--tail <lines>', 'only the last lines; by default all', readLines)
    .option('--timestamps', 'when each line was written')
    .action((pod: string) => run(command, io, pod));
  addDirectory(command);
  addExamples(command, [
    ['podwire logs web', ''],
    ['podwire logs shop/web -c sidecar --tail 20 -f', ''],
  ]);
}

function readLines(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of lines.');
}

async function run(command: Command, io: Io, text: string): Promise<void> {
  const options = optionsOf(command) as LogsOptions;
  const pod = await findPod(openLocatedPodApi(command, io), text, options.namespace);
  const file = chooseLog(pod, options);
  const { createLogPrinter, readContainerLog } = await import('@podwire/cri/logs');
  const print = createLogPrinter({ timestamps: options.timestamps === true });
  await untilInterrupted(io, async (signal) => {
    const tail = compact({ tailLines: options.tail });
    try {
      for await (const entry of readContainerLog(file, {
        follow: options.follow === true,
        signal,
        ...tail,
      })) {
        (entry.stream === 'stderr' ? process.stderr : process.stdout).write(print(entry));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new PodwireError('POD_NOT_RUNNING', `pod ${fullName(pod)} has written no log yet (${file})`);
    }
  });
}

/** @throws PodwireError POD_UNKNOWN for a container that it does not have, POD_NOT_RUNNING */
export function chooseLog(
  pod: PodView,
  { container, previous }: Pick<LogsOptions, 'container' | 'previous'>,
): string {
  const names = pod.containers.map(({ name }) => name);
  // Those that prepare the pod come before its containers, and are not meant unless they are named.
  const wanted = container ?? pod.status.containerStatuses[0]?.name;
  if (wanted === undefined)
    throw new PodwireError('POD_NOT_RUNNING', `pod ${fullName(pod)} has not been started yet`);
  const found = pod.containers.find(({ name }) => name === wanted);
  if (found === undefined) {
    throw new PodwireError(
      'POD_UNKNOWN',
      `pod ${fullName(pod)} has no container ${wanted}; it has ${names.join(', ')}`,
      { action: null },
    );
  }
  if (found.logPath === undefined) {
    throw new PodwireError(
      'POD_NOT_RUNNING',
      `container ${found.name} of pod ${fullName(pod)} has not been started yet`,
    );
  }
  if (previous !== true) return found.logPath;
  if (found.restartCount === 0) {
    throw new PodwireError(
      'POD_NOT_RUNNING',
      `container ${found.name} of pod ${fullName(pod)} has not been restarted: there is no previous one`,
      { action: null },
    );
  }
  return found.logPath.replace(/\d+\.log$/, `${found.restartCount - 1}.log`);
}
