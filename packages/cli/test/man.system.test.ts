import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { renderManPages } from '../src/man/pages.js';

test('groff prints each page of the manual without a warning', async () => {
  for (const { name, text } of await renderManPages()) {
    const options = { input: text, encoding: 'utf8', timeout: 30_000 } as const;
    // All warnings but one: a path may be longer than a line.
    const { status, stdout, stderr } = spawnSync(
      'groff',
      ['-Kutf8', '-man', '-Tutf8', '-ww', '-Wbreak'],
      options,
    );
    assert.deepEqual([status, stderr], [0, ''], name);
    // Bold is a letter printed twice.
    assert.match(stdout.replaceAll(/.[\b]/g, ''), /NAME[^]*SYNOPSIS[^]*DESCRIPTION[^]*OPTIONS/, name);
  }
});
