import { linuxRegistry } from '@podwire/backend-linux';
import { podResources } from '@podwire/backend-linux/fake';
import type { Drift, Resource } from '@podwire/engine';
import { expect, test } from 'vitest';
import { explainResources } from '../../src/api/views.js';

const resourceOf = (kind: Resource['kind']): Resource => podResources(1).find((one) => one.kind === kind)!;
const gapOf = (kind: Resource['kind'], drift: Partial<Drift>): true | undefined => {
  const resource = resourceOf(kind);
  const found: Drift = { resource, state: 'changed', detail: 'other', ...drift };
  return explainResources(linuxRegistry, [resource], [found])[0]!.gap;
};

test('an explanation says which repairs interrupt traffic', () => {
  expect(gapOf('ingress-redirect', {})).toBe(true);
  expect(gapOf('route', {})).toBeUndefined();
  // Its MTU is set on it, though a veth with other ends is another veth.
  expect(gapOf('veth', {})).toBeUndefined();
  expect(gapOf('ingress-redirect', { state: 'missing' })).toBeUndefined();
  expect(gapOf('ingress-redirect', { foreign: 'KERNEL_REFUSED' })).toBeUndefined();
});
