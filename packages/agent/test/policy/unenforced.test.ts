import type { CompiledEndpoint, CompiledPolicy } from '@podwire/policy';
import { expect, test } from 'vitest';
import type { Network } from '../../src/networks.js';
import { findUnenforced } from '../../src/policy/look/unenforced.js';
import type { EndpointRecord } from '../../src/records/record.js';

const open = { tiers: [], profiles: [], end: 'allow' } as const;
const selected = (policy: string) =>
  ({ ...open, tiers: [{ tier: 'kubernetes', policies: [policy], end: 'deny' }] }) as const;

const endpoint = (
  key: string,
  ingress: CompiledEndpoint['ingress'],
  egress = open,
): [string, CompiledEndpoint] => [key, { key, kind: 'pod', ingress, egress }];
const policy = (name: string): [string, CompiledPolicy] => {
  const reference = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace: 'shop', name };
  return [name, { id: name, reference } as unknown as CompiledPolicy];
};
const state = {
  endpoints: new Map([
    endpoint('shop/web', selected('deny')),
    endpoint('shop/db', selected('deny')),
    endpoint('shop/free', open),
    endpoint('shop/guarded', selected('only')),
  ]),
  policies: new Map([policy('deny'), policy('only')]),
};

const network = (name: string, model: object): Network => ({ view: { name }, model }) as unknown as Network;
const networks = [network('sdn', { name: 'sdn', policy: 'none' }), network('default', { name: 'routed' })];
const record = (name: string, of: string): EndpointRecord =>
  ({ pod: { namespace: 'shop', name }, endpoint: { network: of } }) as unknown as EndpointRecord;

test('a policy that selects pods of a model without policy is a problem, which names the first pod', () => {
  const records = [
    record('web', 'sdn'),
    record('db', 'sdn'),
    record('free', 'sdn'),
    record('guarded', 'default'),
  ];
  const [problem, ...others] = findUnenforced(state, networks, { all: () => records });
  expect(problem?.object).toContain('deny');
  expect(problem?.message).toBe(
    'selects pod shop/web and 1 more of network sdn, whose model sdn enforces no policy',
  );
  expect(others).toEqual([]);
});

test('a policy of pods that the packet filter guards is none', () => {
  expect(findUnenforced(state, networks, { all: () => [record('guarded', 'default')] })).toEqual([]);
});
