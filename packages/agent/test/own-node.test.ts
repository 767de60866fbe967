import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { lockStateDirectory } from '../src/own-node.js';
import { makeDirectory } from './fakes/sockets.js';

test('a state directory is one agent’s, private, and free again afterwards', () => {
  const directory = `${makeDirectory()}/state`;
  fs.mkdirSync(directory, { mode: 0o755 });
  const unlock = lockStateDirectory(directory);
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
  expect(() => lockStateDirectory(directory)).toThrow(expect.objectContaining({ code: 'AGENT_RUNNING' }));
  unlock();
  lockStateDirectory(directory)();
});

test('an agent that is killed leaves no lock behind', async () => {
  const directory = makeDirectory();
  // flock(1) stands for another process that has the lock.
  const holder = spawn('flock', [
    '--no-fork',
    `${directory}/agent.lock`,
    'sh',
    '-c',
    'echo locked; exec sleep 60',
  ]);
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  expect(() => lockStateDirectory(directory)).toThrow(expect.objectContaining({ code: 'AGENT_RUNNING' }));
  holder.kill('SIGKILL');
  await once(holder, 'close');
  lockStateDirectory(directory)();
});

test('a place that cannot be a directory', () => {
  const file = `${makeDirectory()}/file`;
  fs.writeFileSync(file, '');
  expect(() => lockStateDirectory(file)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
});
