/** Kinds of settings of the whole switch, of which ovn-controller(8) has many. */
import * as is from '@podwire/engine/checks';
import { MARK, idOf, keyFor } from '../rows/description.js';
import { defineSettingKind } from '../rows/setting-kind.js';
import type { OvsSetting, OvsSettingEntry } from './resources.js';
import { SWITCH, switchDatabase } from './tables.js';

/** Marks are keys beside those of the settings, with a slash: a key has none. */
const key = is.textLike(
  (value) => /^[^\0\s/]{1,200}$/.test(value) && !value.startsWith(MARK),
  'no key of 1 to 200 characters without blanks and slashes, or a mark of Podwire',
);
const value = is.textLike((one) => /^[^\0]{1,4096}$/.test(one), 'no text of 1 to 4096 characters');
const name = is.textLike(
  (one) => /^[^\0\s,:/]{1,200}$/.test(one),
  'no name without blanks, commas, colons and slashes',
);
const member = is.textLike((one) => /^[^\0\s,]{1,255}$/.test(one), 'no text without blanks and commas');

/** Its entries name bridges, which ovn-controller complains of while they are not there. */
const BRIDGE_MAPPINGS = 'ovn-bridge-mappings';

export const setting = defineSettingKind<OvsSetting>({
  ...{ kind: 'ovs-setting', backend: SWITCH, database: switchDatabase },
  check: is.resource<OvsSetting>({ key, value }),
  setting: ({ key, value }) => ({ key, value }),
  after: () => [],
});

export const settingEntry = defineSettingKind<OvsSettingEntry>({
  ...{ kind: 'ovs-setting-entry', backend: SWITCH, database: switchDatabase },
  check: is.resource<OvsSettingEntry>({ key, name, value: member }),
  setting: ({ key, name, value }) => ({ key, name, value }),
  after: ({ key, value }) =>
    key === BRIDGE_MAPPINGS ? [keyFor(switchDatabase.database, idOf('Bridge', value))] : [],
});
