import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** A directory that goes with the test that makes it, or else with the tests of the file. */
export function makeTemporaryDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-cli-'));
  const remove = (): void => fs.rmSync(directory, { recursive: true, force: true });
  try {
    onTestFinished(remove);
  } catch {
    // No test runs: the file is being collected.
    afterAll(remove);
  }
  return directory;
}
