import { assembleTree, flattenTree, type Span } from '@podwire/tracing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idOf, makeSpan } from './make-span.js';

const child = (id: number, parent: number, startedAt: number, duration: number) =>
  makeSpan(id, { parentId: idOf(parent), startedAt, duration });

test('children by their start, with offsets and depths', () => {
  const spans = [child(3, 1, 1006, 2), child(2, 1, 1001, 4), makeSpan(1), child(4, 2, 1002, 1)];
  const nodes = flattenTree(assembleTree(spans));
  expect(nodes.map(({ span, depth, offset, orphan }) => [span.name, depth, offset, orphan])).toEqual([
    ['span 1', 0, 0, false],
    ['span 2', 1, 1, false],
    ['span 4', 2, 2, false],
    ['span 3', 1, 6, false],
  ]);
});

test('self time is what no child covers, also when children overlap or outlive their parent', () => {
  const [root] = assembleTree([
    makeSpan(1),
    child(2, 1, 1001, 4),
    child(3, 1, 1002, 1),
    child(4, 1, 1004, 3),
    child(5, 1, 1009, 50),
    child(6, 1, 900, 50),
  ]);
  // Covered: 1001–1007 and 1009–1010.
  expect(root?.selfTime).toBe(3);
});

test('an orphan is a root that says so', () => {
  const [first, second] = assembleTree([child(5, 99, 1001, 1), makeSpan(1)]);
  expect(first).toMatchObject({ orphan: false, depth: 0 });
  expect(second).toMatchObject({ orphan: true, depth: 0, offset: 1 });
});

test('what begins together: the longer one first; one id twice counts once', () => {
  const nodes = assembleTree([makeSpan(2, { duration: 1 }), makeSpan(1, { duration: 9 }), makeSpan(1)]);
  expect(nodes.map(({ span }) => [span.name, span.duration])).toEqual([
    ['span 1', 9],
    ['span 2', 1],
  ]);
});

test('every span is there exactly once, whatever points where, circles too', () => {
  const span = fc
    .record({
      id: fc.integer({ min: 1, max: 12 }),
      parent: fc.option(fc.integer({ min: 1, max: 14 })),
      start: fc.integer({ min: 0, max: 20 }),
      duration: fc.integer({ min: 0, max: 20 }),
    })
    .map(({ id, parent, start, duration }): Span =>
      makeSpan(id, {
        startedAt: start,
        duration,
        ...(parent === null ? {} : { parentId: idOf(parent) }),
      }),
    );
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), (spans) => {
      const nodes = flattenTree(assembleTree(spans));
      const ids = nodes.map((node) => node.span.spanId);
      expect(ids.toSorted()).toEqual([...new Set(spans.map(({ spanId }) => spanId))].toSorted());
      for (const node of nodes) {
        expect(node.selfTime).toBeGreaterThanOrEqual(0);
        expect(node.selfTime).toBeLessThanOrEqual(node.span.duration);
        const starts = node.children.map((each) => each.span.startedAt);
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
        for (const each of node.children) expect(each.span.parentId).toBe(node.span.spanId);
      }
    }),
  );
});
