/** The suite on a directory, and what only a directory has: files that people write. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { lockFile } from '@podwire/linux';
import { systemClock } from '@podwire/platform';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeSource } from '../src/compliance/index.js';
import { follow, policy, policyReference } from '../src/compliance/tools.js';
import { createDirectorySource, type ObjectSource } from '../src/index.js';

const open = (directory: string): ObjectSource =>
  createDirectorySource({ directory, clock: systemClock, lock: lockFile });

/** `npm run test:long` has all of them. */
const many = process.env['PODWIRE_TEST_LONG'] === '1' ? 10_000 : 1_000;

const bad = (name: string): string =>
  `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: ${name}, namespace: default}\nspec: {wrong: true}\n`;

const good = (name: string, port = 80): string =>
  `# by hand\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: ${name}}\nspec:\n  ingress:\n    - ports: [{port: ${port}}]\n`;

describeSource(
  'a directory',
  () => {
    const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-objects-'));
    const directory = path.join(parent, 'objects');
    return Promise.resolve({
      source: open(directory),
      another: () => Promise.resolve(open(directory)),
      spoil: (name) => {
        fs.mkdirSync(directory, { recursive: true });
        fs.writeFileSync(path.join(directory, `${name}.yaml`), bad(name));
        return Promise.resolve();
      },
      close: () => {
        fs.rmSync(parent, { recursive: true });
        return Promise.resolve();
      },
    });
  },
  { describe, test, before: beforeAll, after: afterAll },
);

describe('files that people write', () => {
  let directory = '';
  let source: ObjectSource;
  const write = (name: string, text: string): void => fs.writeFileSync(path.join(directory, name), text);
  const read = (name: string): string => fs.readFileSync(path.join(directory, name), 'utf8');
  const names = async (): Promise<string[]> =>
    (await source.list()).objects.map(({ object }) => object.metadata.name);

  beforeEach(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-objects-'));
    source = open(directory);
  });
  afterEach(() => fs.rmSync(directory, { recursive: true }));

  test('several objects of a file, each with its line', async () => {
    write('b.yaml', `${good('b1')}---\n${good('b2')}`);
    write('a.yml', good('a'));
    write('notes.txt', 'hello');
    write('.hidden.yaml', 'hello: [');
    const { objects, unreadable } = await source.list();
    expect(unreadable).toEqual([]);
    expect(
      objects.map(({ object, origin }) => [object.metadata.name, path.basename(origin!.file), origin!.line]),
    ).toEqual([
      ['a', 'a.yml', 2],
      ['b1', 'b.yaml', 2],
      ['b2', 'b.yaml', 10],
    ]);
  });

  test('a change of one leaves the others of its file', async () => {
    write('b.yaml', `${good('b1')}---\n${good('b2')}`);
    await source.save(policy('b1', 99), undefined);
    expect(fs.readdirSync(directory)).toEqual(['b.yaml']);
    expect(await names()).toEqual(['b1', 'b2']);
    await source.delete(policyReference('b1'));
    expect(await names()).toEqual(['b2']);
    await source.delete(policyReference('b2'));
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test('a malformed file is left alone, and what was in it stays', async () => {
    write('a.yaml', good('a'));
    write('b.yaml', `${good('b1')}---\n${good('b2')}`);
    const watched = follow((signal) => source.watch({ signal }));
    await watched.until((state) => state.get('b2')?.type === 'put');
    write('b.yaml', 'apiVersion: [');
    const state = await watched.until((all) => all.get('b2')?.type === 'unreadable');
    expect([state.get('a')?.type, state.get('b1')?.type]).toEqual(['put', 'unreadable']);
    await expect(source.save(policy('c'), undefined)).resolves.toMatchObject({ outcome: 'created' });
    write('b.yaml', good('b1'));
    await watched.until((all) => all.get('b1')?.type === 'put' && all.get('b2')?.type === 'delete');
    await watched.end();
  });

  test('at a start with a malformed file, its objects are what they were', async () => {
    const agent = (): ObjectSource =>
      createDirectorySource({ directory, clock: systemClock, lock: lockFile });
    write('a.yaml', good('a', 99));
    write('b.yaml', good('b'));
    const first = follow((signal) => agent().watch({ signal }));
    await first.until((state) => state.has('a'));
    write('c.yaml', good('c'));
    await first.until((state) => state.has('c'));
    await first.end();
    write('a.yaml', bad('a'));
    fs.rmSync(path.join(directory, 'b.yaml'));
    const second = follow((signal) => agent().watch({ signal }));
    const state = await second.until((all) => all.has('c'));
    expect(state.get('a')).toMatchObject({
      type: 'put',
      stored: { object: { spec: { ingress: [{ ports: [{ port: 99 }] }] } } },
    });
    expect(state.get('a.yaml')?.type).toBe('unreadable');
    expect(state.has('b')).toBe(false);
    write('a.yaml', good('a', 80));
    await second.until((all) => all.get('a.yaml')?.type === 'delete');
    expect(state.get('a')).toMatchObject({
      stored: { object: { spec: { ingress: [{ ports: [{ port: 80 }] }] } } },
    });
    await second.end();
    expect((await source.list()).objects).toHaveLength(2);
  });

  test('a malformed file is not overwritten', async () => {
    write('a.yaml', bad('a'));
    await expect(source.save(policy('a'), undefined)).rejects.toMatchObject({ code: 'OBJECT_INVALID' });
    await expect(source.delete(policyReference('a'))).rejects.toThrow(
      /a\.yaml:4: spec\.wrong: unknown field/,
    );
    expect(read('a.yaml')).toBe(bad('a'));
  });

  test('a file of which nothing is known is told by its name', async () => {
    write('a.yaml', 'hello: [');
    expect((await source.list()).unreadable).toMatchObject([{ reference: { kind: 'File', name: 'a.yaml' } }]);
  });

  test('an object that stands in two files counts in the first', async () => {
    write('a.yaml', good('x', 80));
    write('b.yaml', good('x', 81));
    const { objects, unreadable } = await source.list();
    expect(objects.map(({ origin }) => path.basename(origin!.file))).toEqual(['a.yaml']);
    expect(unreadable[0]!.problems[0]!.message).toContain('stands in');
  });

  test('an edit by hand is a change that a writer must have seen', async () => {
    const { revision } = await source.save(policy('a'), undefined);
    const [file] = fs.readdirSync(directory);
    write(file!, good('a', 99));
    await expect(source.save(policy('a', 81), undefined, { expect: revision })).rejects.toMatchObject({
      code: 'OBJECT_CONFLICT',
    });
  });

  test('nothing but YAML files is left behind', async () => {
    await source.save(policy('a'), undefined);
    await source.save(policy('a', 81), undefined);
    expect(fs.readdirSync(directory)).toEqual(['networkpolicy.networking.k8s.io_default_a.yaml']);
  });

  test('a watch begins before the directory is there', async () => {
    const later = path.join(directory, 'later');
    const there = createDirectorySource({ directory: later, clock: systemClock, lock: lockFile });
    const watched = follow((signal) => there.watch({ signal }));
    await watched.until(() => true);
    await open(later).save(policy('a'), undefined);
    await watched.until((state) => state.has('a'));
    await watched.end();
  });

  test(
    `${many} files of 1 KB are read once, and only the one that has changed is read again`,
    { tags: ['long'], timeout: 300_000 },
    async () => {
      const cidrs = Array.from(
        { length: 30 },
        (_, index) => `        - ipBlock: {cidr: 10.${index}.0.0/16}\n`,
      ).join('');
      for (let index = 0; index < many; index++)
        write(
          `p${index}.yaml`,
          `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p${index}}\nspec:\n  ingress:\n    - from:\n${cidrs}`,
        );
      const objectsByName = async (): Promise<Map<string, unknown>> =>
        new Map((await source.list()).objects.map(({ object }) => [object.metadata.name, object]));
      const first = await objectsByName();
      expect(first.size).toBe(many);
      await source.save(policy('p7', 81), undefined);
      // An object that was not read again is the same value.
      const second = await objectsByName();
      const changed = [...second].filter(([name, object]) => object !== first.get(name));
      expect(changed.map(([name]) => name)).toEqual(['p7']);
      expect(second.size).toBe(many);
    },
  );
});
