import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { noFaults, silentLog } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import { ContainerLogs } from '../../src/containers/logs/logs.js';
import { createOwners } from '../../src/owners.js';
import type { Docker, InspectedContainer } from '../../src/docker/index.js';

test('a log that breaks off is spoken of once, however long that lasts, and again when it has gone on meanwhile', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const warnings: string[] = [];
  let attempts = 0;
  let tenTimes = (): void => undefined;
  const enough = new Promise<void>((resolve) => (tenTimes = resolve));
  const away = new Error('no answer');
  async function* oneLine(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from('2026-11-20T21:32:21.623841972Z line\n'));
    throw away;
  }
  const docker = {
    logs: () => {
      attempts += 1;
      if (attempts === 10) tenTimes();
      return attempts === 5 ? Promise.resolve(oneLine()) : Promise.reject(away);
    },
  } as unknown as Docker;
  const logs = new ContainerLogs({
    docker,
    owners: createOwners('/r'),
    clock: { now: () => 0, elapsed: () => 0, sleep: () => Promise.resolve() },
    log: { ...silentLog, warn: (_fields, message) => void warnings.push(message) },
    faults: noFaults,
  });
  logs.follow({
    Id: 'c',
    Config: {
      Tty: true,
      Labels: { 'io.kubernetes.container.logpath': path.join(directory, '0.log') },
    },
  } as unknown as InspectedContainer);
  await enough;
  await logs.close();
  const warning = 'the log of a container broke off';
  expect(warnings).toEqual([warning, warning]);
});
