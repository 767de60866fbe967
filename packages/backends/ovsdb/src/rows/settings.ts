/**
 * Settings: pairs in `external_ids` of the only row of a table, which no resource has for itself. Each of ours has a mark beside
 * it, with the value that we wrote: one key for each, so that no list of all marks has to be read and written back. Pure.
 */
import type { Operation } from '@podwire/ovsdb';
import { EXTERNAL_IDS, idOf, MARK } from './description.js';

export type Pairs = ReadonlyMap<string, string>;

/** A pair, or with `name` one entry `NAME:VALUE` of a comma list in a pair. */
export interface Setting {
  readonly key: string;
  readonly name?: string;
  readonly value: string;
}

export interface FoundSetting {
  readonly value: string | undefined;
  /** The value that we wrote; `undefined` where it is not ours. */
  readonly marked: string | undefined;
}

const PREFIX = `${MARK}/`;

export type SettingName = Pick<Setting, 'key' | 'name'>;

/** `ovn-encap-ip`, `ovn-bridge-mappings/net1`: no key has a slash. */
export const nameOfSetting = ({ key, name }: SettingName): string =>
  name === undefined ? key : `${key}/${name}`;

export const settingId = (setting: SettingName): string => idOf(EXTERNAL_IDS, nameOfSetting(setting));

const markKey = (setting: SettingName): string => PREFIX + nameOfSetting(setting);

/** The setting that a key is the mark of. */
export function settingOfMark(markedKey: string): SettingName | undefined {
  if (!markedKey.startsWith(PREFIX)) return undefined;
  const [key, ...name] = markedKey.slice(PREFIX.length).split('/');
  return name.length === 0 ? { key: key! } : { key: key!, name: name.join('/') };
}

export const listSettings = (pairs: Pairs): readonly SettingName[] =>
  [...pairs.keys()].map(settingOfMark).filter((setting) => setting !== undefined);

export const findSetting = (pairs: Pairs, setting: SettingName): FoundSetting => ({
  value: valueIn(pairs, setting),
  marked: pairs.get(markKey(setting)),
});

function valueIn(pairs: Pairs, { key, name }: SettingName): string | undefined {
  if (name === undefined) return pairs.get(key);
  const entry = entriesOf(pairs.get(key)).find((one) => nameOfEntry(one) === name);
  return entry?.slice(name.length + 1);
}

const entriesOf = (list = ''): readonly string[] => list.split(',').filter((entry) => entry !== '');

/** A value may have colons of its own: `net1:aa:bb:cc:dd:ee:ff`. */
const nameOfEntry = (entry: string): string => entry.split(':', 1)[0]!;

/** The pairs with the setting, marked, in the place of one that others have made. */
export function withSetting(pairs: Pairs, setting: Setting): Pairs {
  const { key, name, value } = setting;
  const text = name === undefined ? value : withEntry(pairs.get(key), name, `${name}:${value}`);
  return new Map([...pairs, [key, text], [markKey(setting), value]]);
}

/** Entries of others stay where they are. */
function withEntry(list: string | undefined, name: string, entry: string): string {
  const entries = entriesOf(list);
  const at = entries.findIndex((one) => nameOfEntry(one) === name);
  const isOther = (one: string, index: number): boolean => index < at || nameOfEntry(one) !== name;
  const others = entries.filter(isOther);
  return others.toSpliced(at < 0 ? others.length : at, 0, entry).join(',');
}

/** The pairs without the setting. What others have set in its place stays, and is theirs then. */
export function withoutSetting(pairs: Pairs, setting: SettingName): Pairs {
  const { value, marked } = findSetting(pairs, setting);
  const left = new Map(pairs);
  left.delete(markKey(setting));
  if (marked === undefined || value !== marked) return left;
  const { key, name } = setting;
  const entries = entriesOf(pairs.get(key)).filter((one) => nameOfEntry(one) !== name);
  if (name === undefined || entries.length === 0) left.delete(key);
  else left.set(key, entries.join(','));
  return left;
}

/**
 * The operations that turn the pairs of a row into others; none where they are the same. Nothing is written where another
 * program has changed one of these pairs meanwhile, and pairs of others survive.
 */
export function changePairs(table: string, uuid: string, before: Pairs, after: Pairs): readonly Operation[] {
  const gone = new Map([...before].filter(([key, value]) => after.get(key) !== value));
  const put = new Map([...after].filter(([key, value]) => before.get(key) !== value));
  if (gone.size + put.size === 0) return [];
  const where = [['_uuid', '==', uuid]] as const;
  const require = (pairs: Pairs): Operation => ({
    ...{ op: 'wait', table, where: [...where, [EXTERNAL_IDS, 'includes', pairs]] },
    ...{ columns: [EXTERNAL_IDS], until: '!=', rows: [] },
  });
  const mutations = [
    [EXTERNAL_IDS, 'delete', gone],
    [EXTERNAL_IDS, 'insert', put],
  ] as const;
  // An insertion leaves the pair of another program as it is: only a look afterwards finds out.
  return [require(gone), { op: 'mutate', table, where, mutations }, require(put)];
}
