import { expect, test } from 'vitest';
import type { DriftView } from '@podwire/agent';
import { describeDrift } from '../../src/render/drift.js';

const drift: DriftView = {
  ...{ watching: true, pods: true, repaired: 0, failed: 0, checks: 0, lost: 0 },
  last: [],
};
const describe = (view: object): string[] =>
  describeDrift({ drift: { ...drift, ...view } }, 0, (milliseconds) => `${milliseconds} ms`);

test('places that are not listened to are named', () => {
  expect(describe({})).toEqual(['drift      watching']);
  expect(describe({ pods: false })).toEqual(['drift      watching, in pods found in rounds only']);
  expect(describe({ watching: false, pods: false })).toEqual(['drift      found in rounds only']);
  // An agent of an earlier version.
  expect(describe({ pods: undefined })).toEqual(['drift      watching']);
});

test('a repair that interrupted traffic says so', () => {
  const entry = {
    at: new Date(-5).toISOString(),
    owner: 'node',
    what: 'nftables table t',
    action: 'repaired',
  };
  const last = [{ ...entry, by: 'nft (process 7)', gap: true }, entry];
  expect(describe({ repaired: 2, last }).slice(1)).toEqual([
    '           5 ms ago, node: repaired nftables table t, changed by nft (process 7), with a gap in its traffic',
    '           5 ms ago, node: repaired nftables table t',
  ]);
});
