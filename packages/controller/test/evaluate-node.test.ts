import type { UnreachableNode, Node, NodeLease, Stored } from '@podwire/cluster-state';
import { describe, expect, test } from 'vitest';
import { evaluateNode, type NodeObservation, type Times } from '../src/index.js';

const stored = <T>(value: T): Stored<T> => ({ key: 'k', value, revision: 1 });
const node = stored({ name: 'n1', instance: 'i' } as Node);
const lease = stored<NodeLease>({ node: 'n1', instance: 'i', since: 0 });
const absent = (more: Partial<UnreachableNode> = {}) =>
  stored<UnreachableNode>({ node: 'n1', instance: 'i', since: 1000, ...more });
const observe = (more: Partial<NodeObservation>): NodeObservation => ({
  node,
  lease: undefined,
  unreachable: undefined,
  ...more,
});
const times = (more: Partial<Times> = {}): Times => ({
  now: 1000,
  observed: 0,
  evictionTimeout: 240,
  saveEvery: 10,
  ...more,
});

describe('a node', () => {
  test.each<[string, Partial<NodeObservation>, Partial<Times>, object]>([
    ['that is there', { lease }, {}, { act: 'nothing' }],
    ['that is back', { lease, unreachable: absent() }, { observed: 999 }, { act: 'mark-reachable' }],
    ['whose lease has ended', {}, {}, { act: 'mark-unreachable' }],
    ['that is none any more', { node: undefined, unreachable: absent() }, {}, { act: 'mark-reachable' }],
    ['that is none', { node: undefined }, {}, { act: 'nothing' }],
    ['that registers', { node: undefined, lease }, {}, { act: 'nothing' }],
    [
      'absent for a moment',
      { unreachable: absent() },
      { now: 1001, observed: 1 },
      { act: 'wait', milliseconds: 9 },
    ],
    ['counted for a while', { unreachable: absent() }, { now: 1010, observed: 10 }, { act: 'save-time' }],
    [
      'counted and noted',
      { unreachable: absent({ observed: 10 }) },
      { now: 1010, observed: 10 },
      { act: 'wait', milliseconds: 10 },
    ],
    [
      'vanished',
      { unreachable: absent({ observed: 235 }) },
      { now: 1240, observed: 240 },
      { act: 'release' },
    ],
    [
      'vanished by the wall clock alone',
      { unreachable: absent({ observed: 238 }) },
      { now: 9999, observed: 239 },
      { act: 'wait', milliseconds: 1 },
    ],
    [
      'vanished by the count alone',
      { unreachable: absent({ observed: 500 }) },
      { now: 1239, observed: 500 },
      { act: 'wait', milliseconds: 1 },
    ],
    [
      'absent since tomorrow',
      { unreachable: absent({ since: 5000 }) },
      { observed: 300 },
      { act: 'save-time' },
    ],
  ])('%s', (_, seen, at, expected) => {
    expect(evaluateNode(observe(seen), times(at))).toEqual(expected);
  });
});
