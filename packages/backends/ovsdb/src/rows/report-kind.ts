/** Resources that are no rows: a state that the program behind the database reports in a row. */
import type { AnyResource, Kind, Resource } from '@podwire/engine';
import type { PodwireError } from '@podwire/errors';
import { pendingError, refusedError, silentError, unreportedError } from '../errors.js';
import type { DatabaseLink } from './link.js';
import type { AnyRow, View } from './view.js';

export interface ReportKind<R extends AnyResource = AnyResource> extends Kind<R, AnyRow | undefined> {
  /** The row with the report. */
  source(resource: R): { readonly table: string; readonly name: string };
  /** True where the program will report nothing else by itself. What has a code is not repaired, and so not waited for. */
  isFinal(row: AnyRow): boolean;
}

export interface Patience {
  readonly signal: AbortSignal;
  /** Milliseconds. The program acts on a row at once, unless it does not run. */
  readonly patience: number;
}

/** Resources of these kinds are waited for, one batch after the rows. */
export const REPORTS = 'reports';

export function findReport(view: View, kind: ReportKind, resource: Resource): AnyRow | undefined {
  const { table, name } = kind.source(resource);
  return view.find(table, name);
}

/**
 * Waits until the resource is as the program reports it.
 * @returns why it is not: PodwireError BACKEND_SILENT, PORT_REFUSED; the code of the difference where it has one
 * @throws the signal's reason
 */
export async function awaitReport(
  link: DatabaseLink,
  kind: ReportKind,
  resource: Resource,
  { signal, patience }: Patience,
): Promise<Error | undefined> {
  let last: Compared;
  const isDone = (view: View): boolean => {
    const row = findReport(view, kind, resource);
    last = kind.compare(resource, row);
    return last === undefined || (row !== undefined && kind.isFinal(row));
  };
  try {
    await link.until(isDone, { signal, timeout: patience });
  } catch (error) {
    signal.throwIfAborted();
    if (last === undefined) return silentError(link.description.database, error);
    if (typeof last === 'object') return lateError(last, error);
  }
  return typeof last === 'string' ? refusedError(last) : undefined;
}

type Compared = ReturnType<Kind['compare']>;

const lateError = (last: Exclude<Compared, string | undefined>, cause: unknown): PodwireError =>
  'missing' in last ? unreportedError(last.missing, cause) : pendingError(last.code, last.foreign, cause);
