import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFileSource } from '../../src/sources/file-source.js';
import { LastGood } from '../../src/sources/last-good.js';
import { listen, makeDirectory, manifest, realClock } from './support.js';

let root = '';
beforeEach(() => {
  root = makeDirectory();
  fs.mkdirSync(at('pods'));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

const at = (...names: string[]): string => path.join(root, ...names);
const kept = (): string[] => (fs.existsSync(at('kept')) ? fs.readdirSync(at('kept')) : []);

function start() {
  const lastGood = new LastGood(at('kept'));
  return listen(
    createFileSource({ path: at('pods'), node: 'n', clock: realClock, pollEvery: 3_600_000, lastGood }),
  );
}

test('a file that is broken at the start has the pods that it had, until it is corrected or gone', async () => {
  fs.writeFileSync(at('pods', 'web.yaml'), manifest('web'));
  const first = start();
  const before = await first.until(({ pods }) => pods.length === 1);
  await first.stop();
  expect(kept()).toHaveLength(1);
  fs.writeFileSync(at('pods', 'web.yaml'), 'spec: [');

  const second = start();
  const broken = await second.until(({ problems }) => problems.length > 0);
  expect(broken.pods.map(({ metadata }) => metadata.uid)).toEqual(
    before.pods.map(({ metadata }) => metadata.uid),
  );
  fs.writeFileSync(at('pods', 'web.yaml'), manifest('other'));
  await second.until(({ pods, problems }) => pods[0]?.metadata.name === 'other' && problems.length === 0);
  fs.rmSync(at('pods', 'web.yaml'));
  await second.until(({ pods }) => pods.length === 0);
  await second.stop();
  expect(kept()).toEqual([]);
});

test('a file that went while the agent was away is forgotten, and rubbish that was kept counts as nothing', async () => {
  fs.writeFileSync(at('pods', 'web.yaml'), manifest('web'));
  const first = start();
  await first.until(({ pods }) => pods.length === 1);
  await first.stop();
  fs.rmSync(at('pods', 'web.yaml'));
  const second = start();
  await second.until(({ pods }) => pods.length === 0);
  await second.stop();
  expect(kept()).toEqual([]);
  fs.writeFileSync(at('kept', 'x.json'), '{"file":');
  expect(new LastGood(at('kept')).load(at('pods')).size).toBe(0);
});
