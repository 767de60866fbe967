import type { Sysctl } from '../resource.js';
import type { Provider } from './provider.js';

export const sysctl: Pick<Provider<Sysctl>, 'compare'> = {
  compare: (resource, view) => {
    const found = view.side(resource.in).parameter(resource.key);
    if (found === undefined)
      return resource.optional ? undefined : { missing: `there is no ${resource.key}` };
    return found === resource.value ? undefined : `${resource.key} is ${found} instead of ${resource.value}`;
  },
};
