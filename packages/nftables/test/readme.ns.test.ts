/** Runs the examples of the README and compares what they print with what they say they print. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createNamespace, deleteNamespace } from '@podwire/linux';

const root = path.resolve(import.meta.dirname, '../..');
const examples = [...fs.readFileSync(`${root}/README.md`, 'utf8').matchAll(/```js\n([^]*?)```/g)].map(
  ([, code]) => code!,
);

/** What an example promises: the comments behind console.log, or below it. */
function promised(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);(?: \/\/ |\n\s*\/\/ )(.*)/g)].map(([, output]) => output!);
}

describe('the README', () => {
  for (const [number, code] of examples.entries()) {
    it(`tells the truth in its example ${number + 1}`, async () => {
      const name = `pw-nft-readme-${process.pid}-${number}`;
      const file = path.join(import.meta.dirname, `${name}.mjs`);
      createNamespace(`/run/netns/${name}`);
      try {
        fs.writeFileSync(file, code);
        const { stdout } = await promisify(execFile)('ip', ['netns', 'exec', name, process.execPath, file], {
          timeout: 60_000,
        });
        assert.deepEqual(stdout.trim().split('\n'), promised(code));
      } finally {
        fs.rmSync(file, { force: true });
        deleteNamespace(`/run/netns/${name}`);
      }
    });
  }

  it('has examples', () => assert.equal(examples.length, 5));
});
