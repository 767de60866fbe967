import type { Backend } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { createRowBackend, type RowBackendOptions } from './rows/backend.js';
import { switchKinds } from './switch/kinds.js';
import { SWITCH, switchDatabase } from './switch/tables.js';

export { createRowBackend, type RowBackendOptions } from './rows/backend.js';
export type {
  ColumnValue,
  DatabaseDescription,
  ParentDescription,
  RowName,
  TableDescription,
  WantedRow,
  WantedRows,
} from './rows/description.js';
export { defineRowKind, type RowKind, type RowKindOptions } from './rows/kind.js';
export { switchKinds } from './switch/kinds.js';
export type * from './switch/resources.js';

/**
 * @param client of the database `Open_vSwitch`; it is closed with the backend
 * @param options patience with ovs-vswitchd, see {@link RowBackendOptions}
 */
export const createSwitchBackend = (
  client: OvsdbClient,
  options: Pick<RowBackendOptions, 'patience'> = {},
): Backend =>
  createRowBackend({
    ...options,
    name: SWITCH,
    client,
    database: switchDatabase,
    kinds: Object.values(switchKinds),
  });
