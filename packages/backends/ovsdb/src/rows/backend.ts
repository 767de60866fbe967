import type { Backend } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { isAbsent, isConflict } from '../errors.js';
import type { DatabaseDescription } from './description.js';
import { watchRows } from './feed.js';
import type { RowKind } from './kind.js';
import type { ReportKind } from './report-kind.js';
import type { SettingKind } from './setting-kind.js';
import { DatabaseLink } from './link.js';
import { RowSession } from './session.js';

/** Milliseconds that a program behind a database may take, unless a backend is given another number. */
export const PATIENCE = 5_000;

export interface RowBackendOptions {
  readonly name: string;
  /** Of the described database; it is closed with the backend. */
  readonly client: OvsdbClient;
  readonly database: DatabaseDescription;
  readonly kinds: readonly (RowKind | ReportKind | SettingKind)[];
  /** Milliseconds that the program behind the database may take to act on a row; 5 s when absent. */
  readonly patience?: number;
}

/** A backend whose resources are rows of one database. */
export const createRowBackend = ({ client, database, ...options }: RowBackendOptions): Backend =>
  createBackendOn(new DatabaseLink(client, database), options);

/** @param link it is closed with the backend */
export function createBackendOn(
  link: DatabaseLink,
  { name, kinds, patience = PATIENCE }: Pick<RowBackendOptions, 'name' | 'kinds' | 'patience'>,
): Backend {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  return {
    name,
    kinds,
    open: () => new RowSession(link, byName, patience),
    isAbsent,
    isConflict,
    changes: [watchRows(link)],
    close: () => void link.close(),
  };
}
