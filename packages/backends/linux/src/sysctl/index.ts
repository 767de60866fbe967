import type {
  Backend,
  Batch,
  Failure,
  Kind,
  Observed,
  Owned,
  Repair,
  Resource,
  Session,
} from '@podwire/engine';
import type { Kernel, PodNamespace, PodNamespaces, Sysctls } from '../kernel.js';
import { observeEach } from '../kinds.js';
import { isAbsent, isConflict } from '../errors.js';
import { linkSetting, linkSettingOf } from '../rtnetlink/link-setting.js';
import { sysctlKey } from '../keys.js';
import { shownSysctl } from '../rtnetlink/shown.js';
import { checkSysctl, compareSysctl, describeSysctl, keysBeforeSysctl } from './describe.js';
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
  variant: (resource) => (linkSettingOf(resource) === undefined ? undefined : linkSetting),
  compare: compareSysctl,
  shownBy: (_resource, now) => shownSysctl(now),
};

export const sysctlKinds = { sysctl } satisfies { [K in keyof SysctlResources]: Kind<SysctlResources[K]> };

/** Kernel parameters below /proc/sys/net, on the host and in pods. */
export function createSysctl(kernel: Kernel, pods: PodNamespaces): Backend {
  return {
    name: 'sysctl',
    kinds: Object.values(sysctlKinds),
    open: (owned) => new SysctlSession(kernel, pods, owned),
    isAbsent,
    isConflict,
    close: () => kernel.close(),
  };
}

class SysctlSession implements Session {
  readonly #kernel: Kernel;
  readonly #owned: Owned;
  readonly #pods: PodNamespaces;
  readonly #pod: PodNamespace;

  constructor(kernel: Kernel, pods: PodNamespaces, owned: Owned) {
    this.#kernel = kernel;
    this.#owned = owned;
    this.#pods = pods;
    this.#pod = pods.acquire(owned);
  }

  async reaches(place: string): Promise<boolean> {
    return Promise.resolve(place !== 'pod' || this.#pod.isThere());
  }

  #sysctls(place: string): Sysctls {
    return (place === 'pod' ? this.#pod.open() : this.#kernel.host).sysctls;
  }

  /** In their order, and none behind one that was refused: it may be there for what the next one does. */
  async create({ place, resources }: Pick<Batch, 'place' | 'resources'>): Promise<Failure[]> {
    for (const [index, resource] of resources.entries()) {
      try {
        this.#write(place, resource as Sysctl);
      } catch (error) {
        return Promise.resolve(resources.slice(index).map((left) => ({ resource: left, error })));
      }
    }
    return Promise.resolve([]);
  }

  #write(place: string, { key, value, optional }: Sysctl): void {
    const sysctls = this.#sysctls(place);
    if (optional === true && sysctls.read(key) === undefined) return;
    sysctls.write(key, value);
  }

  async repair(batch: Batch, repairs: readonly Repair[]): Promise<Failure[]> {
    return this.create({ place: batch.place, resources: repairs.map(({ resource }) => resource) });
  }

  async remove(): Promise<Failure[]> {
    return Promise.resolve([]);
  }

  async observe(resources: readonly Resource[]): Promise<Observed> {
    const observed = observeEach(resources as readonly Sysctl[], ({ in: place, key, initial }) =>
      initial === true ? undefined : this.#sysctls(place).read(key),
    );
    return Promise.resolve(observed);
  }

  close(): void {
    this.#pods.release(this.#owned);
  }
}
