import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import { type Participants, evaluateCheck, planChecks } from '../src/checks.js';
import { compareLines } from '../src/machine.js';
import { renderEnding, renderMatrix, renderPorts, renderSummary } from '../src/render.js';

const plain = createColors(false);
const party = (name: string, n: number) => ({ name, addresses: { 4: `10.0.0.${n}`, 6: `fd00::${n}` } });
const [a, b, node, world] = [party('a', 1), party('b', 2), party('node', 3), party('world', 4)];
const participants: Participants = {
  pods: [a, b],
  node,
  world,
  families: [4, 6],
  published: [{ pod: a, hostPort: 8080, protocol: 'tcp' }],
};
const answered = (name: string, address: string) => ({
  milliseconds: 1,
  answer: { name, seen: { address, port: 9 } },
});

describe('what the demo asks', () => {
  const checks = planChecks(participants);

  test('every pod probes every pod, both protocols, both families', () => {
    const direct = checks.filter(({ kind }) => kind === 'direct');
    // Three who ask (the world knows no pods), each three others.
    expect(direct).toHaveLength(3 * 3 * 4);
    expect(direct.filter(({ from }) => from === 'world')).toEqual([]);
  });

  test('a pod must be seen as itself inside, as the node outside', () => {
    const seenAs = (from: string, to: string) =>
      checks.find((check) => check.from === from && check.to === to && check.family === 6)?.seenAs;
    expect(seenAs('a', 'b')).toBe('fd00::1');
    expect(seenAs('a', 'node')).toBe('fd00::1');
    expect(seenAs('a', 'world')).toBe('fd00::3');
    expect(seenAs('node', 'a')).toBeUndefined();
  });

  test('a host port from the world, from loopback, from another pod and from its own', () => {
    const ports = checks.filter(({ kind, family }) => kind === 'port' && family === 4);
    expect(ports.map(({ from, address, seenAs }) => [from, address, seenAs])).toEqual([
      ['world', '10.0.0.3', '10.0.0.4'],
      ['node', '127.0.0.1', undefined],
      ['b', '10.0.0.3', '10.0.0.2'],
      ['a', '10.0.0.3', undefined],
    ]);
    expect(ports.every(({ answeredBy, port }) => answeredBy === 'a' && port === 8080)).toBe(true);
  });

  test('only IPv4 where there is no IPv6', () => {
    expect(planChecks({ ...participants, families: [4] }).every(({ family }) => family === 4)).toBe(true);
  });
});

describe('which answers count', () => {
  const [check] = planChecks(participants);
  test.each([
    ['the right one', answered('b', '10.0.0.1'), undefined],
    ['of another pod', answered('world', '10.0.0.1'), 'world answered instead of b'],
    ['to another pod', answered('b', '10.0.0.3'), 'it was seen as 10.0.0.3 instead of 10.0.0.1'],
    ['none', { milliseconds: 5, error: 'ECONNREFUSED' }, 'ECONNREFUSED'],
  ])('%s', (_, asked, problem) => {
    const result = evaluateCheck(check!, asked);
    expect(result.ok).toBe(problem === undefined);
    expect(result.problem).toBe(problem);
  });
});

describe('what the demo shows', () => {
  const results = planChecks(participants).map((check, index) =>
    evaluateCheck(
      check,
      index === 0
        ? { milliseconds: 1, error: 'no answer' }
        : answered(check.answeredBy, check.seenAs ?? '::'),
    ),
  );

  test('the matrix marks exactly what failed', () => {
    expect(renderMatrix(results, Infinity, plain).slice(2, 6)).toEqual([
      'FROM \\ TO   a       b       node    world',
      'a           -       ✗✓ ✓✓   ✓✓ ✓✓   ✓✓ ✓✓',
      'b           ✓✓ ✓✓   -       ✓✓ ✓✓   ✓✓ ✓✓',
      'node        ✓✓ ✓✓   ✓✓ ✓✓   -       ✓✓ ✓✓',
    ]);
  });

  test('the summary counts and names it', () => {
    expect(renderSummary(results, plain)).toEqual([
      '43 of 44 as expected, median 1.00 ms for question and answer.',
      '✗ a to b, tcp over IPv4: no answer',
    ]);
  });

  test('who answers at host ports, and whom it sees', () => {
    expect(renderPorts(results, Infinity, plain).slice(3, 5)).toEqual([
      'world   node:8080/tcp       a         ✓ 10.0.0.4        ✓ fd00::4',
      'node    loopback:8080/tcp   a         ✓ ::              ✓ ::',
    ]);
  });

  test('what is left is not passed over', () => {
    const before = { namespaces: 5, processes: 6, mounts: 1, files: 17 };
    const none = { namespaces: 0, processes: 0, mounts: 0, files: 0 };
    const good = renderEnding({ down: 12, before, left: none, machineChanges: [] }, plain);
    expect(good[1]).toBe('Nothing is left of 5 namespaces, 6 processes, 1 mount, 17 files.');
    const bad = renderEnding(
      { before, left: { ...none, processes: 1 }, machineChanges: ['+ link x'] },
      plain,
    );
    expect(bad[0]).toBe('Left behind: 0 namespaces, 1 process, 0 mounts, 0 files.');
    expect(bad.at(-1)).toBe('  + link x');
  });

  test('comparing lines', () => {
    expect(compareLines(['a', 'b'], ['b', 'c'])).toEqual(['+ c', '- a']);
    expect(compareLines(['a'], ['a'])).toEqual([]);
  });
});
