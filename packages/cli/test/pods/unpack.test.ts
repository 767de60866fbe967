import fs from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turnLoop } from 'node:timers/promises';
import { create } from 'tar';
import { expect, test } from 'vitest';
import { createUnpacker } from '../../src/pods/unpack.js';
import { makeTemporaryDirectory } from '../temporary.js';

function archiveHello(directory: string): Buffer {
  fs.writeFileSync(path.join(directory, 'hello'), 'hello');
  return create({ cwd: directory, sync: true }, ['hello']).read()!;
}

test('an unpacker ends with its input, wherever that is cut and however late it ends', async () => {
  const directory = makeTemporaryDirectory();
  const archive = archiveHello(directory);
  for (let at = 0; at < 100; at++) {
    const target = path.join(directory, `${at}`);
    fs.mkdirSync(target);
    const stream = new PassThrough();
    const unpacked = pipeline(stream, createUnpacker({ cwd: target }));
    const cut = (at * 77) % archive.length;
    stream.write(archive.subarray(0, cut));
    await turnLoop();
    stream.write(archive.subarray(cut));
    // Later than the last file: its input ends when the other side says so.
    for (let turn = 0; turn < at % 4; turn++) await turnLoop();
    stream.end();
    await unpacked;
    expect(fs.readFileSync(path.join(target, 'hello'), 'utf8')).toBe('hello');
  }
});

test('an unpacker fails with the error of its filter', async () => {
  const directory = makeTemporaryDirectory();
  const archive = archiveHello(directory);
  const filter = (): boolean => {
    throw new Error('too many');
  };
  await expect(pipeline([archive], createUnpacker({ cwd: directory, filter }))).rejects.toThrow('too many');
});
