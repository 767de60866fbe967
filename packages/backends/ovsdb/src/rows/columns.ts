/** How kinds write their fields as columns. */
import type { ValueInput } from '@podwire/ovsdb';
import type { ColumnValue, WantedRow } from './description.js';

export const valuesOf = (columns: {
  readonly [column: string]: ValueInput;
}): { [column: string]: ColumnValue } =>
  Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, { value }]));

export const idsOf = ({ externalIds }: Pick<WantedRow, 'externalIds'>): Pick<WantedRow, 'externalIds'> =>
  externalIds === undefined ? {} : { externalIds };
