import { spawn } from 'node:child_process';
import { endProcesses } from '@podwire/linux';
import { afterEach, expect, test } from 'vitest';
import { placesIn } from '../../src/pods/locate.js';
import { noteStarted, readStarted } from '../../src/pods/started.js';
import { makeTemporaryDirectory } from '../temporary.js';

const places = placesIn(makeTemporaryDirectory());
const start = (): number => spawn('sleep', ['1000'], { stdio: 'ignore' }).pid!;
afterEach(() => endProcesses(Object.values(readStarted(places))));

test('one that lives is not forgotten for another one that is tried beside it', async () => {
  const first = start();
  noteStarted(places, 'agent', first);
  const second = start();
  noteStarted(places, 'podlet', second);
  noteStarted(places, 'agent', second);
  expect(readStarted(places)).toMatchObject({ agent: { pid: first }, podlet: { pid: second } });
  await endProcesses([readStarted(places).agent!]);
  noteStarted(places, 'agent', second);
  expect(readStarted(places)).toMatchObject({ agent: { pid: second }, podlet: { pid: second } });
});
