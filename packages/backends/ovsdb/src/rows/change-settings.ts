/** Settings in one transaction, and again where the answer was lost or another program was faster. */
import { type Operation, OvsdbError, TransactionError } from '@podwire/ovsdb';
import { silentError, unreportedError } from '../errors.js';
import { isOutcomeUnknown, isOvertaken } from './carry-out.js';
import type { DatabaseLink } from './link.js';
import { changePairs, type Pairs, settingId, type SettingName } from './settings.js';
import { pairsOf, uuidFor, type View } from './view.js';

/** Each attempt that fails is one in which another program has changed something. */
const ATTEMPTS = 20;

const noPairs: Pairs = new Map();

/** The pairs among which the settings are; none without a row. */
export function settingsIn(view: View, table: string): Pairs {
  const row = view.findSingle(table);
  return row === undefined ? noPairs : pairsOf(row);
}

export interface SettingChange<S extends SettingName> {
  readonly settings: readonly S[];
  /** The pairs after the change of one of them. */
  readonly change: (pairs: Pairs, setting: S) => Pairs;
}

/** All or nothing; without settings nothing is asked. @throws PodwireError BACKEND_SILENT; TransactionError; the signal's reason */
export async function changeSettings<S extends SettingName>(
  link: DatabaseLink,
  { settings, change }: SettingChange<S>,
  signal: AbortSignal,
): Promise<void> {
  if (settings.length === 0) return;
  const table = link.description.settings!;
  const changeAll = (pairs: Pairs): Pairs => settings.reduce(change, pairs);
  const ids = settings.flatMap((setting) => [settingId(setting), settingId({ key: setting.key })]);
  for (let attempt = 1; ; attempt++) {
    const operations = planChange(await link.look(signal), table, changeAll);
    if (operations.length === 0) return;
    signal.throwIfAborted();
    try {
      await link.transact(operations, ids, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      const mayBeBetter = isOutcomeUnknown(error) || isOvertaken(error);
      if (!mayBeBetter || attempt === ATTEMPTS) throw refusal(link, error);
    }
  }
}

function refusal({ description: { database } }: DatabaseLink, error: unknown): unknown {
  if (isOvertaken(error))
    return unreportedError(`other programs change settings in the database ${database} all the time`, error);
  const isAnswer = error instanceof TransactionError || !(error instanceof OvsdbError);
  return isAnswer ? error : silentError(database, error);
}

function planChange(view: View, table: string, change: (pairs: Pairs) => Pairs): readonly Operation[] {
  const pairs = settingsIn(view, table);
  const row = view.findSingle(table);
  const uuid = row?._uuid ?? uuidFor(table, '');
  const operations = changePairs(table, uuid, pairs, change(pairs));
  if (row !== undefined || operations.length === 0) return operations;
  return [{ op: 'insert', table, row: {}, uuid }, ...operations];
}
