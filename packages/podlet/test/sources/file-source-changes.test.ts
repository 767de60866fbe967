import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFileSource } from '../../src/sources/file-source.js';
import { listen, makeDirectory, manifest, namesOf, realClock } from './support.js';

type Change =
  | { readonly kind: 'write' | 'replace'; readonly file: string; readonly pod: string }
  | { readonly kind: 'delete'; readonly file: string }
  | { readonly kind: 'rename'; readonly file: string; readonly to: string }
  | { readonly kind: 'recreate' };

const file = fc.constantFrom('a.yaml', 'b.yaml', 'c.yaml', '.d.yaml');
const pod = fc.constantFrom('p', 'q', 'r');
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('write' as const, 'replace' as const), file, pod }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), file }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), file, to: file }) },
  { weight: 1, arbitrary: fc.constant<Change>({ kind: 'recreate' }) },
);

function make(directory: string, each: Change): void {
  const at = (name: string): string => path.join(directory, name);
  if (each.kind === 'write') fs.writeFileSync(at(each.file), manifest(each.pod));
  if (each.kind === 'replace') {
    fs.writeFileSync(at('.new'), manifest(each.pod));
    fs.renameSync(at('.new'), at(each.file));
  }
  if (each.kind === 'delete') fs.rmSync(at(each.file), { force: true });
  if (each.kind === 'rename' && fs.existsSync(at(each.file))) fs.renameSync(at(each.file), at(each.to));
  if (each.kind === 'recreate') {
    fs.rmSync(directory, { recursive: true });
    fs.mkdirSync(directory);
  }
}

/** Final state: pods of files in their order, the first one of a name. */
function expected(directory: string): string {
  const pods = fs
    .readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => /name: (\w+)/.exec(fs.readFileSync(path.join(directory, name), 'utf8'))![1]!);
  return pods.filter((name, index) => pods.indexOf(name) === index).join(' ');
}

test('whatever happens to a directory, what is there in the end is found, and nothing is called broken', async () => {
  const step = fc.record({ change, pause: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      const parent = makeDirectory();
      const directory = path.join(parent, 'manifests');
      fs.mkdirSync(directory);
      const source = createFileSource({ path: directory, node: 'n', clock: realClock, pollEvery: 3_600_000 });
      const listener = listen(source);
      await listener.until(() => true);
      for (const { change: each, pause } of steps) {
        make(directory, each);
        if (pause) await new Promise(setImmediate);
      }
      const names = expected(directory);
      await listener.until((snapshot) => namesOf(snapshot) === names);
      const broken = listener.snapshots.flatMap(({ problems }) => problems);
      expect(broken.filter(({ message }) => !/stands in|does not exist/.test(message))).toEqual([]);
      await listener.stop();
      fs.rmSync(parent, { recursive: true });
    }),
    { numRuns: 150 },
  );
});
