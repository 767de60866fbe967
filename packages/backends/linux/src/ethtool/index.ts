import type { Backend, Kind } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import * as is from '../checks.js';
import { isAbsent, isConflict } from '../errors.js';
import type { Kernel, LinkFeatures, PodNamespaces } from '../kernel.js';
import { entryKey, linkKey } from '../keys.js';
import { inPlace } from '../kinds.js';
import { type ValueAccess, ValueSession } from '../values.js';
import type { EthtoolResources, LinkFeature } from './resources.js';

const onOff = (on: boolean): string => (on ? 'on' : 'off');

const linkFeature: Kind<LinkFeature, boolean | undefined> = {
  kind: 'link-feature',
  check: is.resource<LinkFeature>({
    ...{ in: is.side, link: is.link, feature: is.oneOf('tx-checksumming'), on: is.flag },
  }),
  backend: 'ethtool',
  batch: 'features',
  place: (resource) => resource.in,
  key: ({ kind, in: place, link, feature }) => entryKey(kind, place, `${link} ${feature}`),
  describe: ({ in: place, link, feature, on }) => `${feature} of ${link}: ${onOff(on)}${inPlace(place)}`,
  // It is a value of the link, and dies with it.
  removal: 'never',
  inPlace: true,
  diesWith: ({ in: place, link }) => linkKey(place, link),
  after: ({ in: place, link }) => [linkKey(place, link)],
  // The kernel tells of a change of features as of any other of the link.
  touches: ({ in: place, link }) => (place === 'host' ? [linkKey(place, link)] : []),
  compare({ link, feature, on }, found) {
    if (found === undefined) return { missing: `there is no link ${link}` };
    return found === on ? undefined : `${feature} of ${link} is ${onOff(found)}`;
  },
};

export const ethtoolKinds = { 'link-feature': linkFeature } satisfies {
  [K in keyof EthtoolResources]: Kind<EthtoolResources[K]>;
};

const access: ValueAccess<LinkFeature> = {
  read: ({ link, feature }, open) => readIfThere(open().features, link, feature),
  write: ({ link, feature, on }, open) => open().features.switch(link, feature, on),
};

function readIfThere(
  features: LinkFeatures,
  link: string,
  feature: LinkFeature['feature'],
): boolean | undefined {
  try {
    return features.read(link, feature);
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
  }
}

/** Features of links, on the host and in pods. */
export function createEthtool(kernel: Kernel, pods: PodNamespaces): Backend {
  return {
    name: 'ethtool',
    kinds: Object.values(ethtoolKinds),
    open: (owned) => new ValueSession({ kernel, pods, owned }, access),
    isAbsent,
    isConflict,
    close: () => kernel.close(),
  };
}
