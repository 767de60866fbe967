import type { Attachment } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { expect, test } from 'vitest';
import type { Network } from '../../src/networks.js';
import { withModels } from '../../src/policy/look/model-verdicts.js';
import { createKnownPolicy } from '../fakes/known-policy.js';

declare module '@podwire/network-contract' {
  interface Attachment {
    readonly side?: string;
  }
}

/** Pods whose names begin with one letter are of one side. The policy of the fake closes `db`, but for `web` at port 5432. */
const sides = {
  resolve: ({ name = '' }): Attachment => ({ side: name[0]! }),
  reaches: (from: Attachment, to: Attachment): boolean => from.side === to.side,
};

const networkOf = (model: object, cidr = '10.0.0.0/24'): Network =>
  ({ view: { name: 'n', pools: [{ cidr }] }, model: { name: 'm', ...model } }) as unknown as Network;

function decide(networks: readonly Network[], source: string, destination: string, destinationPort = 80) {
  const { inputs, decider } = createKnownPolicy();
  const podAt = (address: string) => inputs.pods.pods.get(inputs.podAt(address) ?? '');
  const read: Read = () => undefined as never;
  const decided = withModels(decider(), { networks, read, podAt })({
    ...{ source, destination, protocol: 'tcp', destinationPort },
  });
  return [decided.verdict, decided.ingress?.reason];
}

const [web, db, old, outside] = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '192.0.2.77'];

test('where the model enforces policy the rules decide', () => {
  expect(decide([networkOf({})], web, db)).toEqual(['deny', 'end-of-tier']);
  expect(decide([], web, db, 5432)).toEqual(['allow', 'rule']);
});

test('where it enforces none no rule closes a pod', () => {
  const networks = [networkOf({ policy: 'none' })];
  expect(decide(networks, web, db)).toEqual(['allow', 'unenforced']);
  expect(decide(networks, outside, db)).toEqual(['allow', 'unenforced']);
});

test('pods that the model keeps apart do not reach each other, and others do', () => {
  const networks = [networkOf({ policy: 'none', ...sides })];
  expect(decide(networks, web, old)).toEqual(['deny', 'apart']);
  expect(decide(networks, web, web)).toEqual(['allow', 'unenforced']);
  expect(decide(networks, outside, old)).toEqual(['allow', 'unenforced']);
});

test('pods of another network keep their rules', () => {
  expect(decide([networkOf({ policy: 'none', ...sides }, '10.9.0.0/24')], web, db)).toEqual([
    'deny',
    'end-of-tier',
  ]);
});

test('a pod that belongs to nothing yet is taken for open', () => {
  const resolve = (): Attachment => {
    throw new Error('no project yet');
  };
  const networks = [networkOf({ policy: 'none', ...sides, resolve })];
  expect(decide(networks, web, old)).toEqual(['allow', 'unenforced']);
});
