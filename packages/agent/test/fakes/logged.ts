/** A log whose lines a test reads. */
import { createLog, type Log } from '../../src/log.js';

export interface Logged {
  readonly log: Log;
  /** Level and message of each line: `warn: …`. */
  readonly messages: string[];
  readonly lines: Readonly<Record<string, unknown>>[];
}

export function createLogged(): Logged {
  const messages: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const destination = {
    write(text: string): void {
      const line = JSON.parse(text) as Record<string, unknown>;
      lines.push(line);
      messages.push(`${String(line['level'])}: ${String(line['msg'])}`);
    },
  };
  return { log: createLog({ level: 'info', nodeName: 'n1', destination }), messages, lines };
}
