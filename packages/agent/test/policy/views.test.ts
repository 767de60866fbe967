import { expect, test } from 'vitest';
import { viewHost, viewPod } from '../../src/policy/look/views.js';
import { createKnownPolicy } from '../fakes/known-policy.js';

const policy = createKnownPolicy();

test('a pod has the policies that select it, with rules and lines; what none governs is open', () => {
  const { ingress, egress } = viewPod(policy, 'shop/db');
  expect(egress).toEqual({ isOpen: true, tiers: [], end: 'allow' });
  expect(ingress.isOpen).toBe(false);
  expect(ingress.tiers).toMatchObject([
    {
      ...{ tier: 'default', end: 'deny' },
      policies: [
        {
          ...{ object: 'NetworkPolicy shop/db', file: 'db.yaml', line: 1 },
          rules: [
            { action: 'allow', path: 'spec.ingress[0]', line: 8 },
            { action: 'allow', path: 'spec.ingress[1]', line: 9 },
          ],
        },
      ],
    },
  ]);
  expect(viewPod(policy, 'shop/web').ingress.isOpen).toBe(true);
});

test.each([
  ['pod', () => viewPod(policy, 'shop/unknown'), 'policy knows no pod shop/unknown'],
  ['host endpoint', () => viewHost(policy, 'edge'), 'this node has no host endpoint edge'],
])('a %s that is not known is refused', (_, view, message) => {
  expect(view).toThrow(expect.objectContaining({ code: 'ENDPOINT_UNKNOWN', message }) as Error);
});
