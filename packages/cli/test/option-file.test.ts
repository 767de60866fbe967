import fs from 'node:fs';
import { PodwireError } from '@podwire/errors';
import { silentLog } from '@podwire/platform';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { define } from '../src/commands/podlet.js';
import { LiveSettings } from '../src/pod-agent/live-settings.js';
import { type OptionValues, readOptionFile } from '../src/pod-agent/option-file.js';
import { writeTemporary } from './support.js';

const podlet = (): Command => {
  const command = new Command('podlet');
  const sink = { write: () => undefined };
  define(command, { stdout: sink, stderr: sink, env: {}, now: () => 0, color: false, exitCode: 0 });
  return command;
};
const read = (text: string): OptionValues =>
  readOptionFile(writeTemporary('podlet.yaml', text), podlet()).values;

test('keys are the options of the command; what repeats is a list', () => {
  const values = read(
    'runtime: containerd\nmanifests: [/a, /b]\nurl: https://x\nlogLevel: debug\ncontainerLogMaxFiles: 3\n',
  );
  expect(values).toEqual({
    runtime: 'containerd',
    manifests: ['/a', '/b'],
    url: ['https://x'],
    logLevel: 'debug',
    containerLogMaxFiles: '3',
  });
  expect(read('')).toEqual({});
});

test.each([
  ['manifest: [/a]', '1:1: manifest: unknown key; did you mean manifests?'],
  ['\nruntime: [a, b]', '2:1: runtime: takes one value, not a list'],
  ['logLevel: loud', '1:1: logLevel: must be trace or debug'],
  ['manifests: { a: 1 }', '1:1: manifests: must be a word, or a list of words'],
  ['directory: /x', '1:1: directory: unknown key'],
  ['a: [', '1:5'],
  ['- a', '1:1: must be a list of KEY: VALUE'],
])('%j is refused with its place', (text, message) => {
  expect(() => read(text)).toThrow(PodwireError);
  expect(() => read(text)).toThrow(message);
});

test('a reload applies what is live, and names the rest until the file says again what runs', () => {
  const file = writeTemporary('podlet.yaml', 'runtime: embedded\nmanifests: [/a]\n');
  const command = podlet();
  const applied: [OptionValues, OptionValues][] = [];
  const live = new LiveSettings({
    initial: readOptionFile(file, command),
    readAgain: () => readOptionFile(file, command),
    apply: (before, after) => void applied.push([before, after]),
    now: () => 0,
    log: silentLog,
  });
  expect(live.view()).toMatchObject({ file, waiting: [] });
  fs.writeFileSync(file, 'runtime: docker\nmanifests: [/b]\n');
  const reason = 'needs a restart of the pod agent';
  expect(live.reload()).toMatchObject({ applied: ['manifests'], waiting: [{ path: 'runtime', reason }] });
  expect(applied).toEqual([
    [
      { runtime: 'embedded', manifests: ['/a'] },
      { runtime: 'embedded', manifests: ['/b'] },
    ],
  ]);
  fs.writeFileSync(file, 'runtime: embedded\n');
  expect(live.reload()).toMatchObject({ applied: ['manifests'], waiting: [] });
  fs.writeFileSync(file, 'nonsense: 1\n');
  expect(() => live.reload()).toThrow(`${file}:1:1: nonsense: unknown key`);
  expect(live.view()).toMatchObject({ problem: expect.stringContaining(':1:1') as string, waiting: [] });
});
