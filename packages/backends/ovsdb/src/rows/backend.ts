import type { Backend } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { isAbsent, isConflict } from '../errors.js';
import type { DatabaseDescription } from './description.js';
import { watchRows } from './feed.js';
import type { RowKind } from './kind.js';
import { DatabaseLink } from './link.js';
import { RowSession } from './session.js';

export interface RowBackendOptions {
  readonly name: string;
  /** Of the described database; it is closed with the backend. */
  readonly client: OvsdbClient;
  readonly database: DatabaseDescription;
  readonly kinds: readonly RowKind[];
}

/** A backend whose resources are rows of one database. */
export function createRowBackend({ name, client, database, kinds }: RowBackendOptions): Backend {
  const link = new DatabaseLink(client, database);
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  return {
    name,
    kinds,
    open: () => new RowSession(link, byName),
    isAbsent,
    isConflict,
    changes: [watchRows(link)],
    close: () => void link.close(),
  };
}
