import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

/** In a mount namespace of its own, so that the machine's own /run is not touched. */
function runApart(script: string): string {
  const file = path.join(import.meta.dirname, 'support', script);
  const words = ['--mount', '--propagation', 'private', process.execPath, file];
  return execFileSync('unshare', words, { encoding: 'utf8', timeout: 120_000 });
}

test('`ip netns add` by another program, at any moment, covers no namespace of ours', () => {
  const [, moments] = /^(\d+) moments\n$/.exec(runApart('netns-moments.js')) ?? [];
  assert.equal(Number(moments) >= 4 * 9, true, `there were ${moments} moments`);
});

test('a namespace that another program has covered is deleted', () => {
  assert.equal(runApart('netns-covered.js'), 'deleted\n');
});
