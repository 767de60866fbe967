/** Objects that are read, but are not in force as they are written. */
import type { AnyObject } from '@podwire/objects';
import type { InputChange } from '@podwire/policy';
import { expect, test } from 'vitest';
import { ObjectFollower } from '../../src/policy/inputs/object-inputs.js';

const reference = { apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkPolicy', name: 'x' };
const policy = { id: 'x', reference, tier: 'default', subjects: [], ingress: [] };
const host = { name: 'x', labels: {}, node: 'n1', expectedIPs: [], profiles: [] };

function problemsOf(input: InputChange): readonly string[] {
  const follower = new ObjectFollower({
    put: () => [input],
    unreadable: () => [],
    delete: () => [],
  } as never);
  const object = { ...reference, metadata: { name: 'x' } } as unknown as AnyObject;
  follower.take({
    type: 'snapshot',
    objects: [{ object, revision: 1 }],
    unreadable: [],
    revision: 1,
  } as never);
  return follower.problems.map(({ message }) => message);
}

test.each<[string, InputChange, readonly string[]]>([
  ['a policy', { topic: 'policy', key: 'x', value: policy }, []],
  [
    'one that also sees forwarded packets',
    { topic: 'policy', key: 'x', value: { ...policy, hostMode: 'forward' } },
    [],
  ],
  [
    'one that could not be translated',
    { topic: 'policy', key: 'x', value: { ...policy, broken: 'no such thing' } },
    ['no such thing; it closes what it selects'],
  ],
  [
    'one in front of translation',
    { topic: 'policy', key: 'x', value: { ...policy, hostMode: 'pre-dnat' } },
    [],
  ],
  [
    'one of packets that are not tracked',
    { topic: 'policy', key: 'x', value: { ...policy, hostMode: 'untracked' } },
    [],
  ],
  ['a host endpoint', { topic: 'host-endpoint', key: 'x', value: host }, []],
])('%s', (_, input, expected) => {
  expect(problemsOf(input)).toEqual(expected);
});
