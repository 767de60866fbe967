/** The suite on the fake, in process and over a socket in both versions of the interface. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type ApiVersion, connectCri, type ContainerConfig, serveCri } from '../src/index.js';
import { type ComplianceTarget, type Feature, testCompliance } from '@podwire/cri-compliance';
import { createFakeRuntime, type FakeProgram, type FakeRuntime } from '../src/fake/index.js';

const runner = { describe, test, before: beforeAll, after: afterAll };
const lacks: readonly Feature[] = ['programs', 'traffic', 'logs', 'mounts', 'hostname', 'dns', 'users'];
const image = 'podwire.test/busybox:1';
const removableImage = 'podwire.test/other:1';

function programOf({ command: [name, code] }: ContainerConfig): FakeProgram {
  if (name === 'exits') return { endsAfterMs: 0, exitCode: Number(code) };
  return name === 'until-kill' ? { ignoresTerm: true } : { termExitCode: 7 };
}

const createRuntime = (): FakeRuntime => createFakeRuntime({ images: [image, removableImage], programOf });

const common = {
  image,
  removableImage,
  directory: '/var/log/pods',
  programs: {
    untilTerm: () => ['until-term'],
    untilKill: () => ['until-kill'],
    exits: (code: number) => ['exits', String(code)],
  },
};

testCompliance(runner, {
  name: 'the fake',
  lacks,
  open: () => Promise.resolve({ ...common, runtime: createRuntime(), close: () => Promise.resolve() }),
});

async function openServed(apiVersion: ApiVersion): Promise<ComplianceTarget> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-cri-'));
  const socket = path.join(directory, 'own', 'cri.sock');
  const server = await serveCri(createRuntime(), { socket, apiVersions: [apiVersion] });
  const runtime = await connectCri({ socket });
  const close = async (): Promise<void> => {
    runtime.close();
    await server.close();
    fs.rmSync(directory, { recursive: true });
  };
  return { ...common, runtime, close };
}

for (const version of ['v1', 'v1alpha2'] as const)
  testCompliance(runner, { name: `the fake behind ${version}`, lacks, open: () => openServed(version) });
