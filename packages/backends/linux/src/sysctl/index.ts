import type { Backend, Kind } from '@podwire/engine';
import { isAbsent, isConflict } from '../errors.js';
import type { Kernel, PodNamespaces } from '../kernel.js';
import { sysctlKey } from '../keys.js';
import { linkSetting, linkSettingOf } from '../rtnetlink/link-setting.js';
import { shownSysctl } from '../rtnetlink/shown.js';
import { type ValueAccess, ValueSession } from '../values.js';
import { checkSysctl, compareSysctl, describeSysctl, keysBeforeSysctl, linkOfSysctl } from './describe.js';
import type { Sysctl, SysctlResources } from './resources.js';

const sysctl: Kind<Sysctl, string | undefined> = {
  kind: 'sysctl',
  check: checkSysctl,
  backend: 'sysctl',
  batch: 'values',
  place: (resource) => resource.in,
  key: sysctlKey,
  describe: describeSysctl,
  // Values are not set back: others may have come to rely on them.
  removal: 'never',
  inPlace: true,
  after: keysBeforeSysctl,
  diesWith: linkOfSysctl,
  variant: (resource) => (linkSettingOf(resource) === undefined ? undefined : linkSetting),
  compare: compareSysctl,
  shownBy: (_resource, now) => shownSysctl(now),
};

export const sysctlKinds = { sysctl } satisfies { [K in keyof SysctlResources]: Kind<SysctlResources[K]> };

const access: ValueAccess<Sysctl> = {
  read: ({ key, initial }, open) => (initial === true ? undefined : open().sysctls.read(key)),
  write({ key, value, optional }, open) {
    const { sysctls } = open();
    if (optional === true && sysctls.read(key) === undefined) return;
    sysctls.write(key, value);
  },
};

/** Kernel parameters below /proc/sys/net, on the host and in pods. */
export function createSysctl(kernel: Kernel, pods: PodNamespaces): Backend {
  return {
    name: 'sysctl',
    kinds: Object.values(sysctlKinds),
    open: (owned) => new ValueSession({ kernel, pods, owned }, access),
    isAbsent,
    isConflict,
    close: () => kernel.close(),
  };
}
