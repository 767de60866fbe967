/** The last result of `podwire connectivity test`, kept for the dashboard. */
import path from 'node:path';
import { readIfExists, replaceFile } from '@podwire/platform';
import type { ConnectivityReport } from '@podwire/testbed';

/** A report with the time at which it ended, milliseconds since the epoch. */
export interface SavedReport extends ConnectivityReport {
  readonly at: number;
}

/** Of a node's own test: in the directory of its agent's socket. */
export const besideSocket = (apiSocket: string): string =>
  path.join(path.dirname(apiSocket), 'connectivity.json');

/** A result that cannot be kept is still a result: the test does not fail for it. */
export async function saveReport(file: string, report: ConnectivityReport, at: number): Promise<void> {
  const saved: SavedReport = { ...report, at };
  await replaceFile(file, JSON.stringify(saved), { mode: 0o600 }).catch(() => undefined);
}

/** @returns undefined when there is none */
export async function readReport(file: string): Promise<SavedReport | undefined> {
  const text = await readIfExists(file);
  return text === undefined ? undefined : (JSON.parse(text) as SavedReport);
}
