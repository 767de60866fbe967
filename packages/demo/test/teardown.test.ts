import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { endExamples } from '../src/pods.js';
import type { Io, Progress } from '@podwire/cli/command';
import { makeTemporaryDirectory, startFailingPodAgent } from './support.js';

const progress: Progress = {
  show: () => undefined,
  step: (_what, work) => work(),
  end: () => undefined,
};

test('a pod agent that fails does not stop the teardown', async () => {
  const directory = makeTemporaryDirectory();
  const agent = await startFailingPodAgent();
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  const io = { stderr: { write: () => undefined } } as unknown as Io;
  expect(await endExamples(directory, io, progress)).toBeUndefined();
  expect(agent.requests).toEqual(['GET /v1/status', 'GET /v1/pods']);
  await agent.close();
});
