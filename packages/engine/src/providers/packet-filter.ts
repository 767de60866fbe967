import { isDeepStrictEqual } from 'node:util';
import { digestTable } from '@podwire/nftables';
import { elementKey } from '../observe.js';
import type { NftElement, NftTable } from '../resource.js';
import type { Provider } from './provider.js';

export const nftTable: Pick<Provider<NftTable>, 'compare'> = {
  compare: (resource, view) => {
    const found = view.filter.digest(resource);
    if (found === digestTable(resource)) return undefined;
    const name = `${resource.family} ${resource.name}`;
    return found === undefined
      ? { missing: `there is no table ${name} of ours` }
      : `table ${name} has another body`;
  },
};

export const nftElement: Pick<Provider<NftElement>, 'compare'> = {
  compare: (resource, view) => {
    const found = view.filter.element(resource);
    const words = `set ${resource.set}: ${elementKey(resource)}`;
    if (found === undefined) return { missing: `${words} is not in it` };
    return isDeepStrictEqual(found.value ?? [], resource.value ?? [])
      ? undefined
      : `${words} has another value`;
  },
};
