import { compact } from '@podwire/platform';
import { PodwireError } from '@podwire/errors';
import type { PodView } from '@podwire/podlet';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples, optionsOf } from '../command.js';
import { untilInterrupted } from '../interrupt.js';
import type { Io } from '../io.js';
import { addDirectory, openLocatedPodApi } from '../pods/locate.js';
import { findPod, fullName } from '../pods/names.js';
import { notStarted } from '../pods/not-started.js';
import type { ContainerLog } from '../pods/print-logs.js';

interface LogsOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tail?: number;
  readonly timestamps?: boolean;
  /** Milliseconds before now, or RFC 3339. */
  readonly since?: number | string;
  readonly sinceTime?: string;
  readonly allContainers?: boolean;
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
    .option('--since <duration>', 'only what is newer: 10m, 1h30m, or a time as for --since-time', readSince)
    .option('--since-time <time>', 'only what is newer than this, such as 2026-11-23T09:00:00Z', readTime)
    .addOption(
      new Option('--all-containers', 'of all containers, each line with its [container]').conflicts(
        'container',
      ),
    )
    .option('--timestamps', 'when each line was written')
    .action((pod: string) => run(command, io, pod));
  addDirectory(command);
  addExamples(command, [
    ['podwire logs web', ''],
    ['podwire logs shop/web -c sidecar --tail 20 -f', ''],
    ['podwire logs web --since 10m --all-containers', ''],
    ['podwire logs web --previous', 'why the instance before has ended'],
  ]);
}

function readLines(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of lines.');
}

const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** `90s`, `1h30m`, as Go and kubectl write them, or a time. */
function readSince(text: string): number | string {
  if (/^\d{4}-/.test(text)) return readTime(text);
  const parts = [...text.matchAll(/(\d{1,9})(ms|h|m|s)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text;
  if (!isWhole) throw new InvalidArgumentError('It must be a duration such as 90s, 10m or 1h30m, or a time.');
  return parts.reduce((sum, [, digits, unit]) => sum + Number(digits) * units[unit as keyof typeof units], 0);
}

function readTime(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (isTime && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It must be a time such as 2026-11-23T09:00:00Z.');
}

async function run(command: Command, io: Io, text: string): Promise<void> {
  const options = optionsOf(command) as LogsOptions;
  if (options.since !== undefined && options.sinceTime !== undefined)
    return command.error('error: --since and --since-time exclude each other', { exitCode: 2 });
  const since = options.sinceTime ?? (options.since === undefined ? undefined : beginOf(io, options.since));
  const pod = await findPod(openLocatedPodApi(command, io), text, options.namespace);
  const logs = options.allContainers === true ? allLogs(pod, options) : [chooseLog(pod, options)];
  const { follow = false, timestamps = false, tail } = options;
  const { printLogs } = await import('../pods/print-logs.js');
  await untilInterrupted(io, async (signal) => {
    await printLogs(pod, logs, {
      ...{ follow, timestamps, prefix: options.allContainers === true, signal },
      ...compact({ tailLines: tail, since }),
    });
  });
}

function beginOf(io: Io, since: number | string): string {
  return typeof since === 'string' ? since : new Date(io.now() - since).toISOString();
}

/** A log that there is: of the others nothing was written yet. */
function allLogs(pod: PodView, options: LogsOptions): ContainerLog[] {
  const begun = pod.containers.filter(
    ({ logPath, restartCount }) => logPath !== undefined && (options.previous !== true || restartCount > 0),
  );
  if (begun.length > 0) return begun.map(({ name }) => chooseLog(pod, { ...options, container: name }));
  if (options.previous !== true) throw notStarted(pod, `pod ${fullName(pod)}`);
  throw new PodwireError('POD_NOT_RUNNING', `no container of pod ${fullName(pod)} has been restarted yet`, {
    action: null,
  });
}

/** @throws PodwireError POD_UNKNOWN for a container that it does not have, POD_NOT_RUNNING */
export function chooseLog(
  pod: PodView,
  { container, previous }: Pick<LogsOptions, 'container' | 'previous'>,
): ContainerLog {
  const names = pod.containers.map(({ name }) => name);
  // Those that prepare the pod come before its containers, and are not meant unless they are named.
  const wanted = container ?? pod.status.containerStatuses[0]?.name;
  if (wanted === undefined) throw notStarted(pod, `pod ${fullName(pod)}`);
  const found = pod.containers.find(({ name }) => name === wanted);
  if (found === undefined) {
    throw new PodwireError(
      'POD_UNKNOWN',
      `pod ${fullName(pod)} has no container ${wanted}; it has ${names.join(', ')}`,
      { action: null },
    );
  }
  if (found.logPath === undefined) {
    throw notStarted(pod, `container ${found.name} of pod ${fullName(pod)}`);
  }
  if (previous !== true) return { container: found.name, file: found.logPath };
  if (found.restartCount === 0) {
    throw new PodwireError(
      'POD_NOT_RUNNING',
      `container ${found.name} of pod ${fullName(pod)} has not been restarted: there is no previous one`,
      { action: null },
    );
  }
  const file = found.logPath.replace(/\d+\.log$/, `${found.restartCount - 1}.log`);
  return { container: found.name, file };
}
