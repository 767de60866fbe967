import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeTar } from '../src/containerd/tar.js';
import { assertSameSnapshot, diffSnapshots } from '../src/snapshot/diff.js';
import { canonical, keyed, without } from '../src/snapshot/keyed.js';
import type { Snapshot } from '../src/snapshot/snapshot.js';
import { start } from '../src/processes.js';
import { eventually, until } from '../src/until.js';

const section = fc.dictionary(fc.string(), fc.jsonValue());
const snapshot: fc.Arbitrary<Snapshot> = fc.dictionary(fc.string(), section);

describe('differences', () => {
  test('a snapshot equals itself, whatever the order of its keys', () => {
    fc.assert(
      fc.property(snapshot, (one) => {
        const reversed = Object.fromEntries(Object.entries(one).reverse());
        expect(diffSnapshots(one, reversed)).toEqual([]);
      }),
    );
  });

  test('what is gone, new and changed', () => {
    const before = { links: { gone: { mtu: 1 }, changed: { mtu: 1, up: true } }, files: { a: 'x' } };
    const after = { links: { changed: { mtu: 2, up: true }, fresh: { mtu: 3 } }, files: { a: 'y' } };
    expect(diffSnapshots(before, after)).toEqual([
      '~ files/a: "x" → "y"',
      '~ links/changed mtu: 1 → 2',
      '+ links/fresh {"mtu":3}',
      '- links/gone {"mtu":1}',
    ]);
  });

  test('whole sections and single keys may be left out', () => {
    const before = { links: { a: 1 }, routes: { 'blackhole 10.0.0.0/8': 1, other: 1 } };
    const ignore = ['links', /^routes\/blackhole /];
    expect(diffSnapshots(before, {}, { ignore })).toEqual(['- routes/other 1']);
    expect(() => assertSameSnapshot(before, {}, { ignore })).toThrow('- routes/other 1');
  });

  test('lists processes that have come, and none that have ended', () => {
    const before = { processes: { runc: 1, dockerd: 1 } };
    expect(diffSnapshots(before, { processes: { dockerd: 1 } })).toEqual([]);
    expect(diffSnapshots(before, { processes: { dockerd: 2, sleep: 1 } })).toEqual([
      '~ processes/dockerd: 1 → 2',
      '+ processes/sleep 1',
    ]);
  });
});

test('entries with equal keys are numbered and none is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 1 })), (items) => {
      const record = keyed(
        items,
        (item) => item,
        (item) => item,
      );
      expect(Object.values(record).sort()).toEqual([...items].sort());
    }),
  );
});

test('unwanted keys go at every depth', () => {
  const value = { a: 1, handle: 2, list: [{ handle: 3, b: 4 }] };
  expect(without(value, (key) => key === 'handle')).toEqual({ a: 1, list: [{ b: 4 }] });
});

test('canonical text does not depend on the order of keys', () => {
  expect(canonical({ b: [{ d: 1, c: 2 }], a: 0 })).toBe('{"a":0,"b":[{"c":2,"d":1}]}');
});

describe('tar', () => {
  test('is what tar reads', () => {
    const archive = writeTar([
      { name: 'bin/' },
      { name: 'bin/program', content: Buffer.from('x'.repeat(600)), mode: 0o711 },
      { name: 'bin/link', target: 'program' },
      { name: 'empty', content: Buffer.alloc(0), mode: 0o600 },
    ]);
    const listed = execFileSync('tar', ['--list', '--verbose', '--file', '-'], {
      input: archive,
      encoding: 'utf8',
    });
    const rows = listed
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/))
      .map(([mode, , size, , , ...name]) => [mode, size, name.join(' ')]);
    expect(rows).toEqual([
      ['drwxr-xr-x', '0', 'bin/'],
      ['-rwx--x--x', '600', 'bin/program'],
      ['lrwxr-xr-x', '0', 'bin/link -> program'],
      ['-rw-------', '0', 'empty'],
    ]);
  });

  test('a name that does not fit is refused', () => {
    expect(() => writeTar([{ name: 'x'.repeat(101) }])).toThrow(RangeError);
  });
});

describe('waiting', () => {
  const soon = { timeout: 20, interval: 1 };

  test('until there is something: errors are nothing yet, and the last is told', async () => {
    let looks = 0;
    const look = (): number | undefined => {
      looks += 1;
      if (looks === 1) throw new Error('too early');
      return looks === 2 ? undefined : looks;
    };
    expect(await until('the third', look, { interval: 1 })).toBe(3);
    const never = (): never => {
      throw new Error('no such pod');
    };
    await expect(until('the pod', never, { ...soon, describe: () => ({ pods: 0 }) })).rejects.toThrow(
      /^not yet the pod: no such pod\n\{\n {2}"pods": 0/,
    );
  });

  test('eventually it is so: an error ends it, and what was last seen is told', async () => {
    const answers = [false, 'one is missing', true];
    await eventually('all there', () => answers.shift()!, { interval: 1 });
    expect(answers).toEqual([]);
    await expect(eventually('all there', () => 'two are missing', soon)).rejects.toThrow(
      'not so in time: all there: two are missing',
    );
    await expect(eventually('all there', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  });
});

test('no thread of a frozen program runs any more', async () => {
  const spin = `const { Worker } = require('node:worker_threads');
    for (let i = 0; i < 3; i++) new Worker('for (;;);', { eval: true });
    setTimeout(() => console.log('spins'), 50);`;
  const program = start([process.execPath, '--eval', spin]);
  try {
    await program.waitForOutput(/spins/);
    program.freeze();
    const tasks = `/proc/${program.pid}/task`;
    const states = fs.readdirSync(tasks).map((id) => fs.readFileSync(`${tasks}/${id}/stat`, 'utf8'));
    expect(states.length).toBeGreaterThan(3);
    expect(states.filter((state) => !/\) T /.test(state))).toEqual([]);
  } finally {
    program.kill('SIGKILL');
    await program.exited;
  }
});
