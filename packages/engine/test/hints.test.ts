/** A backend that the engine has never heard of reports what others change, and its owners are found. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Changes,
  createEngine,
  type Engine,
  type Owned,
  type Resource,
  TouchIndex,
} from '../src/index.js';
import { createFileBackend } from './file-backend.js';

const setting = (name: string, value: string): Resource => ({
  ...{ kind: 'setting', directory: 'common' },
  ...{ name, value },
});
const node: Owned = { owner: 'node', resources: [{ kind: 'directory', name: 'common' }] };
const one: Owned = { owner: 'endpoint:1', resources: [setting('first', '1')] };
const two: Owned = { owner: 'endpoint:2', resources: [setting('second', '2')] };
const call = () => ({ signal: AbortSignal.timeout(10_000) });

let root: string;
let file: string;
let engine: Engine;
let index: TouchIndex;
let changes: Changes;

beforeEach(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hints-'));
  file = path.join(root, 'common', 'settings');
  const backend = createFileBackend(root);
  engine = createEngine({ backends: [backend] });
  index = new TouchIndex(engine.kinds);
  changes = backend.changes![0]!.open();
  for (const owned of [node, one, two]) {
    await engine.apply(owned, call());
    index.put(owned);
  }
});
afterEach(async () => {
  await engine.close();
  fs.rmSync(root, { recursive: true });
});

/** Where what has happened since leads to. */
const leads = () =>
  changes.read().hints.map((hint) => {
    const { owners, leftover } = index.find(hint, 'host');
    return { keys: hint.keys, owners: [...owners], leftover };
  });
const write = (...lines: string[]): void => fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''));

test('what the engine does leads to no owner', async () => {
  expect(leads()).toEqual([]);
  await engine.remove(two, call());
  expect(leads()).toEqual([]);
});

test('a change leads to its owner alone, and after the repair there is no hint', async () => {
  write('first=changed # podwire', 'second=2 # podwire');
  expect(leads()).toEqual([{ keys: ['setting common/first'], owners: ['endpoint:1'], leftover: false }]);
  const drifts = await engine.verify(one, call());
  expect(drifts.map(({ detail }) => detail)).toEqual(['first is changed']);
  const repaired = await engine.startReconcile(() => [node, one, two]).repair([one], call());
  expect(repaired.map(({ what, action }) => `${action} ${what}`)).toEqual([
    'repaired setting first=1 in common',
  ]);
  expect(leads()).toEqual([]);
});

test('what is as wanted in the end leads to no owner', () => {
  write('first=1', 'second=2 # podwire');
  expect(leads()).toEqual([{ keys: ['setting common/first'], owners: [], leftover: false }]);
});

test('a loss leads to the owner', () => {
  write('first=1 # podwire');
  expect(leads()).toEqual([{ keys: ['setting common/second'], owners: ['endpoint:2'], leftover: false }]);
});

test('something foreign leads to no owner, and something with our mark is a leftover', () => {
  write('first=1 # podwire', 'second=2 # podwire', 'third=3', 'fourth=4 # podwire');
  expect(leads()).toEqual([
    { keys: ['setting common/third'], owners: [], leftover: false },
    { keys: ['setting common/fourth'], owners: [], leftover: true },
  ]);
});

test('owners come and go', () => {
  index.drop('endpoint:1');
  index.put({ owner: 'endpoint:3', resources: [setting('first', '1')] });
  index.put({ owner: 'endpoint:2', resources: [setting('third', '3')] });
  write('first=x', 'second=x', 'third=x');
  expect(leads().map(({ owners }) => owners)).toEqual([['endpoint:3'], [], ['endpoint:2']]);
});

test('a key that several owners touch leads to all of them', () => {
  const { owners } = index.find({ keys: ['directory common'] }, 'host');
  expect([...owners]).toEqual(['node', 'endpoint:1', 'endpoint:2']);
});

test('hints that were lost lead to all who have something in the place', () => {
  const lost = { keys: [], lost: true };
  expect([...index.find(lost, 'host').owners]).toEqual(['node', 'endpoint:1', 'endpoint:2']);
  expect(index.find(lost, 'elsewhere')).toEqual({ owners: new Set(), leftover: false });
  expect(index.find({ ...lost, marked: true }, 'elsewhere').leftover).toBe(true);
});
