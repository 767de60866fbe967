/** Resources that are settings: see `settings.ts`. */
import type { AnyResource, Difference, Kind } from '@podwire/engine';
import type { DatabaseDescription } from './description.js';
import { keyFor } from './description.js';
import { findSetting, nameOfSetting, type Pairs, type Setting, settingId } from './settings.js';

export interface SettingKind<R extends AnyResource = AnyResource> extends Kind<R, Pairs> {
  setting(resource: R): Setting;
}

type Given<R extends AnyResource> = Pick<Kind<R, Pairs>, 'kind' | 'backend' | 'check' | 'after'> & {
  readonly database: DatabaseDescription;
  readonly setting: (resource: R) => Setting;
};

/** All settings of a database travel in one transaction. */
export const SETTINGS = 'settings';

export function defineSettingKind<R extends AnyResource>({
  database: { database },
  setting,
  ...given
}: Given<R>): SettingKind<R> {
  return {
    ...given,
    setting,
    batch: SETTINGS,
    place: () => database,
    key: (resource) => keyFor(database, settingId(setting(resource))),
    describe: (resource) => `${wordsFor(setting(resource))} = ${setting(resource).value}`,
    inPlace: true,
    independent: true,
    touches: (resource) => {
      const { key } = setting(resource);
      return [settingId(setting(resource)), settingId({ key })].map((id) => keyFor(database, id));
    },
    compare: (resource, pairs) => compareSetting(setting(resource), pairs),
  };
}

export const wordsFor = (setting: Pick<Setting, 'key' | 'name'>): string =>
  `setting ${nameOfSetting(setting)}`;

function compareSetting(setting: Setting, pairs: Pairs): Difference | undefined {
  const { value, marked } = findSetting(pairs, setting);
  const words = wordsFor(setting);
  if (value === undefined) return { missing: `there is no ${words}` };
  if (value !== setting.value) return `${words} is ${JSON.stringify(value)}`;
  return marked === value ? undefined : `${words} is not marked as ours`;
}
