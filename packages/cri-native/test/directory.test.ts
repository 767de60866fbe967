import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PodSandboxConfig } from '@podwire/cri';
import { lockAlive } from '../src/native/alive.js';
import { readContainers, readSandboxes, sandboxDirectory, writeSandbox } from '../src/state/directory.js';

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'pwe-directory-'));
  for (const name of ['sandboxes', 'containers']) fs.mkdirSync(path.join(root, name));
});
afterEach(() => fs.rmSync(root, { recursive: true }));

function write(file: string, text: string): string {
  const whole = path.join(root, file);
  fs.mkdirSync(path.dirname(whole), { recursive: true });
  fs.writeFileSync(whole, text);
  return path.dirname(whole);
}

describe('a record that a power loss has left empty, or half of it', () => {
  test.each(['', '\0\0\0\0', '{"version":1,"pod":"de'])('%j is rubbish, and the others are whole', (text) => {
    const config = PodSandboxConfig.fromPartial({});
    const whole = { id: 'whole', runtimeHandler: '', createdAt: 5n, bootId: 'b', config };
    writeSandbox(root, whole);
    const damaged = [write('sandboxes/damaged/record.ready', text), write('containers/damaged/record', text)];
    const sandboxes = readSandboxes(root);
    expect(sandboxes.whole).toEqual([{ record: whole, phase: 'creating' }]);
    expect([...sandboxes.rubbish, ...readContainers(root).rubbish]).toEqual(damaged);
  });

  test('is none while a process holds what belongs to it: that must not be guessed', () => {
    write('sandboxes/live/record.ready', '');
    const alive = lockAlive(sandboxDirectory(root, 'live'));
    const { whole, rubbish, unusable } = readSandboxes(root);
    expect([whole, rubbish]).toEqual([[], []]);
    expect(unusable).toMatchObject([{ id: 'live', why: expect.stringMatching(/JSON/) as string }]);
    fs.closeSync(alive);
  });

  test.each(['{"version":2}', 'null', '{}', '[]', '{"version":1}', '5'])(
    '%s is none, and the others are whole',
    (text) => {
      const config = PodSandboxConfig.fromPartial({});
      const whole = { id: 'whole', runtimeHandler: '', createdAt: 5n, bootId: 'b', config };
      writeSandbox(root, whole);
      write('sandboxes/newer/record.ready', text);
      write('containers/newer/record', text);
      const sandboxes = readSandboxes(root);
      expect(sandboxes.whole).toEqual([{ record: whole, phase: 'creating' }]);
      expect([...sandboxes.rubbish, ...readContainers(root).rubbish]).toEqual([]);
      expect([...sandboxes.unusable, ...readContainers(root).unusable]).toMatchObject([
        { id: 'newer' },
        { id: 'newer' },
      ]);
    },
  );
});
