import type { UnreachableNode, Node, NodeLease, Stored } from '@podwire/cluster-state';
import { describe, expect, test } from 'vitest';
import { evaluateNode, type Sight, type Times } from '../src/index.js';

const stored = <T>(value: T): Stored<T> => ({ key: 'k', value, revision: 1 });
const node = stored({ name: 'n1', instance: 'i' } as Node);
const presence = stored<NodeLease>({ node: 'n1', instance: 'i', since: 0 });
const absent = (more: Partial<UnreachableNode> = {}) =>
  stored<UnreachableNode>({ node: 'n1', instance: 'i', since: 1000, ...more });
const sight = (more: Partial<Sight>): Sight => ({ node, presence: undefined, absence: undefined, ...more });
const times = (more: Partial<Times> = {}): Times => ({
  now: 1000,
  observed: 0,
  vanishAfter: 240,
  noteEvery: 10,
  ...more,
});

describe('a node', () => {
  test.each<[string, Partial<Sight>, Partial<Times>, object]>([
    ['that is there', { presence }, {}, { act: 'rest' }],
    ['that is back', { presence, absence: absent() }, { observed: 999 }, { act: 'end-absence' }],
    ['whose presence has ended', {}, {}, { act: 'note-absence' }],
    ['that is none any more', { node: undefined, absence: absent() }, {}, { act: 'end-absence' }],
    ['that is none', { node: undefined }, {}, { act: 'rest' }],
    ['that registers', { node: undefined, presence }, {}, { act: 'rest' }],
    [
      'absent for a moment',
      { absence: absent() },
      { now: 1001, observed: 1 },
      { act: 'wait', milliseconds: 9 },
    ],
    ['counted for a while', { absence: absent() }, { now: 1010, observed: 10 }, { act: 'note-time' }],
    [
      'counted and noted',
      { absence: absent({ observed: 10 }) },
      { now: 1010, observed: 10 },
      { act: 'wait', milliseconds: 10 },
    ],
    ['vanished', { absence: absent({ observed: 235 }) }, { now: 1240, observed: 240 }, { act: 'release' }],
    [
      'vanished by the wall clock alone',
      { absence: absent({ observed: 238 }) },
      { now: 9999, observed: 239 },
      { act: 'wait', milliseconds: 1 },
    ],
    [
      'vanished by the count alone',
      { absence: absent({ observed: 500 }) },
      { now: 1239, observed: 500 },
      { act: 'wait', milliseconds: 1 },
    ],
    ['absent since tomorrow', { absence: absent({ since: 5000 }) }, { observed: 300 }, { act: 'note-time' }],
  ])('%s', (_, seen, at, expected) => {
    expect(evaluateNode(sight(seen), times(at))).toEqual(expected);
  });
});
