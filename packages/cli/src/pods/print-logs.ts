/** Logs of containers on this process's own streams. */
import { createLogPrinter, type LogEntry, readContainerLog } from '@podwire/cri/logs';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { PodView } from '@podwire/podlet';
import { fullName } from './names.js';

export interface ContainerLog {
  readonly container: string;
  readonly file: string;
}

export interface PrintLogs {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** `[container] ` before each line. */
  readonly prefix: boolean;
  readonly signal: AbortSignal;
  readonly tailLines?: number;
  /** RFC 3339. */
  readonly since?: string;
}

/** One after the other; together where they are followed. @throws PodwireError POD_NOT_RUNNING where there is no file */
export async function printLogs(
  pod: PodView,
  logs: readonly ContainerLog[],
  options: PrintLogs,
): Promise<void> {
  if (options.follow) {
    await Promise.all(logs.map((log) => printLog(pod, log, options)));
    return;
  }
  for (const log of logs) await printLog(pod, log, options);
}

async function printLog(pod: PodView, { container, file }: ContainerLog, options: PrintLogs): Promise<void> {
  const { follow, timestamps, prefix, signal, tailLines, since } = options;
  const print = createLogPrinter({ timestamps });
  const name = prefix ? createPrefix(`[${container}] `) : () => '';
  try {
    for await (const entry of readContainerLog(file, { follow, signal, ...compact({ tailLines, since }) })) {
      const bytes = Buffer.concat([Buffer.from(name(entry)), print(entry)]);
      (entry.stream === 'stderr' ? process.stderr : process.stdout).write(bytes);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new PodwireError('POD_NOT_RUNNING', `pod ${fullName(pod)} has written no log yet (${file})`);
  }
}

/** Of a line that comes in parts only the first part has it. */
function createPrefix(text: string): (entry: LogEntry) => string {
  const within = new Set<LogEntry['stream']>();
  return ({ stream, partial }) => {
    const isBegin = !within.has(stream);
    if (partial) within.add(stream);
    else within.delete(stream);
    return isBegin ? text : '';
  };
}
