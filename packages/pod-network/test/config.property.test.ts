/** Whatever is done to the configuration directory, the network is the first usable one, or the last that was. */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conflist, createHarness } from './support/harness.js';

const names = ['1.conflist', '2.conf', '3.json', '4.conflist', '5.txt'] as const;
type Name = (typeof names)[number];

type Content =
  | { readonly kind: 'good'; readonly network: string }
  | { readonly kind: 'broken' | 'empty' | 'missing plugin' };

type Edit =
  | { readonly do: 'write' | 'replace'; readonly file: Name; readonly content: Content }
  | { readonly do: 'remove'; readonly file: Name }
  | { readonly do: 'rename'; readonly file: Name; readonly to: Name }
  | { readonly do: 'remove directory' }
  | { readonly do: 'make directory' };

const content: fc.Arbitrary<Content> = fc.oneof(
  fc.constantFrom('alpha', 'beta', 'gamma').map((network) => ({ kind: 'good', network }) as const),
  fc.constantFrom('broken', 'empty', 'missing plugin').map((kind) => ({ kind })),
);
const file = fc.constantFrom(...names);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('write', 'replace'), file, content }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove'), file }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('rename'), file, to: file }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ do: 'remove directory' } as const, { do: 'make directory' } as const),
  },
);

/** A list's content in a file of a single plugin has no `type`, and the other way round has no `plugins`. */
function textOf(name: Name, what: Content): string {
  if (what.kind === 'empty') return '';
  if (what.kind === 'broken') return '{"cniVersion":';
  const network = what.kind === 'good' ? what.network : 'lost';
  const type = what.kind === 'good' ? 'bridge' : 'nowhere';
  return JSON.stringify(
    name.endsWith('.conflist') ? conflist(network, [type]) : { cniVersion: '1.0.0', name: network, type },
  );
}

/** Meaning of a file in its place: formats and extensions have to agree. */
interface ModelFile {
  readonly content: Content;
  readonly writtenFor: Name;
}

const isList = (name: Name): boolean => name.endsWith('.conflist');

function wantedOf(files: ReadonlyMap<Name, ModelFile>): string | undefined {
  for (const name of names.slice(0, 4)) {
    const here = files.get(name);
    if (here?.content.kind === 'good' && isList(here.writtenFor) === isList(name))
      return here.content.network;
  }
  return undefined;
}

function apply(directory: string, files: Map<Name, ModelFile>, step: Edit): void {
  const at = (name: string): string => path.join(directory, name);
  if (step.do === 'make directory') return void fs.mkdirSync(directory, { recursive: true });
  if (step.do === 'remove directory') {
    files.clear();
    return fs.rmSync(directory, { recursive: true, force: true });
  }
  if (!fs.existsSync(directory)) return;
  if (step.do === 'remove') {
    files.delete(step.file);
    return fs.rmSync(at(step.file), { force: true });
  }
  if (step.do === 'rename') {
    const moved = files.get(step.file);
    if (moved === undefined) return;
    fs.renameSync(at(step.file), at(step.to));
    files.delete(step.file);
    return void files.set(step.to, moved);
  }
  const text = textOf(step.file, step.content);
  files.set(step.file, { content: step.content, writtenFor: step.file });
  if (step.do === 'write') return fs.writeFileSync(at(step.file), text);
  fs.writeFileSync(at('.new'), text);
  fs.renameSync(at('.new'), at(step.file));
}

test('random edits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
      const harness = createHarness();
      try {
        const network = await harness.start({ debounceMs: 1 });
        const files = new Map<Name, ModelFile>();
        let last: string | undefined;
        for (const step of edits) {
          apply(harness.config, files, step);
          const wanted = wantedOf(files);
          last = wanted ?? last;
          const { network: chosen, status } = await network.explain();
          expect(chosen?.name).toBe(last);
          expect(chosen?.kept).toBe(last === undefined ? undefined : wanted === undefined);
          expect(status.ready).toBe(last !== undefined);
        }
      } finally {
        await harness.close();
      }
    }),
    { numRuns: 60 },
  );
});

test('random edits, found by watching alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), async (edits) => {
      const harness = createHarness();
      try {
        const network = await harness.start({ debounceMs: 1, pollMs: 3_600_000 });
        const files = new Map<Name, ModelFile>();
        for (const step of edits) apply(harness.config, files, step);
        // Something that is surely the first, so that it is known where it ends.
        fs.mkdirSync(harness.config, { recursive: true });
        harness.write('0.conflist', conflist('final', ['bridge']));
        await expect
          .poll(() => harness.log.findLast(({ message }) => message === 'network for pods')?.['network'], {
            timeout: 10_000,
            interval: 5,
          })
          .toBe('final');
        expect(network.status()).toEqual({ ready: true, reason: '', message: '' });
      } finally {
        await harness.close();
      }
    }),
    { numRuns: 30 },
  );
});
