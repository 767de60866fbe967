import { expect, onTestFinished, test } from 'vitest';
import type { Snapshot } from '../../src/contract.js';
import { createMerger } from '../../src/merge/merger.js';
import { SourceSet } from '../../src/sources/source-set.js';
import { makePod } from '../merge/make-pod.js';

/** A set of places that say what the test says, and a merger that hears it. */
function start(...origins: string[]) {
  const said = new Map<string, (snapshot: Snapshot) => void>();
  const failed = new Map<string, (error: Error) => void>();
  const running: string[] = [];
  const set = new SourceSet('file', origins, (origin) => ({
    name: 'file',
    run: (emit, signal) =>
      new Promise<void>((resolve, reject) => {
        running.push(origin);
        said.set(origin, emit);
        failed.set(origin, reject);
        signal.addEventListener('abort', () => {
          running.splice(running.indexOf(origin), 1);
          resolve();
        });
      }),
  }));
  const merger = createMerger({ now: () => 0 });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const told: string[] = [];
  const run = (): Promise<void> =>
    set.run((snapshot) => {
      for (const { kind, pods } of merger.merge('file', snapshot))
        told.push(...pods.map(({ metadata }) => `${kind} ${metadata.uid}`));
    }, stop.signal);
  const speak = (origin: string, snapshot: Snapshot): void => said.get(origin)!(snapshot);
  const say = (origin: string, uids: readonly string[], incomplete = false): void =>
    speak(origin, {
      pods: uids.map((uid) => makePod({ uid })),
      problems: [],
      ...(incomplete ? { incomplete } : {}),
    });
  const fail = (origin: string, error: Error): void => failed.get(origin)!(error);
  return { set, run, say, speak, fail, running, told: () => told.splice(0) };
}

test('an unreadable place does not keep the pods of others', () => {
  const { set, run, say, told } = start('/a', '/broken');
  void run();
  say('/broken', [], true);
  say('/a', ['a1', 'a2']);
  expect(told()).toEqual(['ADD a1', 'ADD a2']);
  say('/a', ['a2']);
  expect(told()).toEqual(['REMOVE a1']);
  set.remove('/a');
  expect(told()).toEqual(['REMOVE a2']);
});

test('what a place does not know at the moment is not gone; when it knows, it is', () => {
  const { run, say, told } = start('/a', '/broken');
  void run();
  say('/a', ['a1']);
  say('/a', [], true);
  expect(told()).toEqual(['ADD a1']);
  say('/a', []);
  expect(told()).toEqual(['REMOVE a1']);
});

test('what another place wants too stays', () => {
  const { set, run, say, told } = start('/a', '/b', '/broken');
  void run();
  say('/a', ['x']);
  say('/b', ['x']);
  say('/b', [], true);
  set.remove('/a');
  expect(told()).toEqual(['ADD x']);
  say('/b', []);
  expect(told()).toEqual(['REMOVE x']);
});

test('when one place fails all end, so that none is there twice when the set is run anew', async () => {
  const { run, fail, running } = start('/a', '/b');
  const first = run();
  fail('/b', new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  void run();
  expect(running.filter((origin) => origin === '/a')).toHaveLength(1);
});

test('what is only being written, perhaps, is no word yet; what is wrong with it is one', async () => {
  const { set, run, say, speak } = start('/bad.yaml');
  void run();
  let isKnown = false;
  say('/bad.yaml', [], true);
  const early = set.known('/bad.yaml').then(() => (isKnown = true));
  await Promise.resolve();
  expect(isKnown).toBe(false);
  const problem = { source: 'file', origin: '/bad.yaml', message: 'is no YAML' } as const;
  speak('/bad.yaml', { pods: [], problems: [problem], incomplete: true });
  await early;
  await set.known('/bad.yaml');
});
