import { setLink } from '@podwire/netlink';
import { linkSettingOf } from '../link-setting.js';
import type { Sysctl } from '../resource.js';
import type { Provider } from './provider.js';

/** Only those that rtnetlink knows are made here; the others are written as files, see run-step.ts. */
export const sysctl: Provider<Sysctl> = {
  create: (resource, session) => {
    const setting = linkSettingOf(resource);
    if (setting === undefined) return [];
    return [setLink(session.indexOf(resource.in, setting.link), { inetSettings: setting.settings })];
  },
  remove: () => [], // parameters are never set back: nobody knows who else has come to rely on them
  compare: (resource, view) => {
    if (resource.initial) return undefined;
    const found = view.side(resource.in).parameter(resource.key);
    if (found === undefined)
      return resource.optional ? undefined : { missing: `there is no ${resource.key}` };
    return found === resource.value ? undefined : `${resource.key} is ${found} instead of ${resource.value}`;
  },
};
