/** The end of a container's log, for `terminationMessagePolicy: FallbackToLogsOnError`. */
import { createLogPrinter, readContainerLog } from '@podwire/cri/logs';

/** Kubernetes' limits (`kubelet/container/helpers.go`, MaxContainerTerminationMessageLogLength and …Lines). */
const mostBytes = 2048;
const mostLines = 80;

/** @returns an empty text when there is no log */
export async function readLogTail(logPath: string): Promise<string> {
  const print = createLogPrinter();
  const parts: Buffer[] = [];
  try {
    for await (const entry of readContainerLog(logPath, { tailLines: mostLines })) parts.push(print(entry));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  return Buffer.concat(parts).subarray(-mostBytes).toString('utf8');
}
