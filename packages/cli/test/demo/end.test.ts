import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { endExamples } from '../../src/demo/pods.js';
import type { Io } from '../../src/io.js';
import type { Progress } from '../../src/render/progress.js';
import { startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';

const progress: Progress = {
  show: () => undefined,
  step: (_what, work) => work(),
  end: () => undefined,
};

test('a pod agent that fails in the middle does not keep the rest from being put away', async () => {
  const directory = makeTemporaryDirectory();
  const agent = await startFakeAgent({ 'GET /v1/status': { body: {} } });
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  const io = { stderr: { write: () => undefined } } as unknown as Io;
  expect(await endExamples(directory, io, progress)).toBeUndefined();
  expect(agent.asked).toEqual(['GET /v1/status', 'GET /v1/sources']);
  await agent.close();
});
