/** Programs that are started to go on: what does not come up is ended. */
import path from 'node:path';
import { isAlive, markProcess, type ProcessMark } from '@podwire/linux';
import { expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/pods/processes.js';
import { makeTemporaryDirectory } from '../temporary.js';

/** A program that runs and never answers. */
function silentDaemon(answers: Daemon['answers']) {
  const marks: ProcessMark[] = [];
  const daemon: Daemon = {
    ...{ name: 'sleeper', argv: ['sleep', '1000'], failure: 'AGENT_NOT_READY', answers },
    logFile: path.join(makeTemporaryDirectory(), 'log'),
    onStart: (pid) => marks.push(markProcess('sleeper', pid)),
  };
  return { daemon, isRunning: () => marks.map(isAlive) };
}

const never = new AbortController().signal;

test('one that gives no sign in time is ended', async () => {
  const { daemon, isRunning } = silentDaemon(() => Promise.resolve(false));
  const work = startDaemon({ ...daemon, patience: 1 }, never);
  expect(isRunning()).toEqual([true]);
  await expect(work).rejects.toThrow('the sleeper did not start: no sign within 1 ms');
  expect(isRunning()).toEqual([false]);
});

test('one that cannot be written down is ended', async () => {
  const { daemon, isRunning } = silentDaemon(() => Promise.resolve(true));
  const onStart = (pid: number): never => {
    daemon.onStart(pid);
    throw new Error('the disk is full');
  };
  await expect(startDaemon({ ...daemon, onStart }, never)).rejects.toThrow('the disk is full');
  expect(isRunning()).toEqual([false]);
});

test('one that answers with an error is ended', async () => {
  const { daemon, isRunning } = silentDaemon(() => Promise.reject(new Error('not for you')));
  await expect(startDaemon(daemon, never)).rejects.toThrow('not for you');
  expect(isRunning()).toEqual([false]);
});

test('one that is not waited for any more is ended', async () => {
  const stop = new AbortController();
  const { daemon, isRunning } = silentDaemon(() => {
    stop.abort(new Error('Ctrl-C'));
    return Promise.resolve(false);
  });
  await expect(startDaemon(daemon, stop.signal)).rejects.toThrow('Ctrl-C');
  expect(isRunning()).toEqual([false]);
});
