/** `podwire testbed up`. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestbed,
  listTestbeds,
  settle,
  type Shape,
  type StepObserver,
  type Testbed,
} from '@podwire/testbed';
import { reportFailure } from '../failure.js';
import { untilInterrupted, withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { observeTestbed } from './observe.js';
import { ownName } from '../own-name.js';
import { renderNext, renderState } from './render-state.js';

export interface UpCall {
  readonly name: string;
  readonly shape: Shape;
  readonly foreground: boolean;
  readonly json: boolean;
}

export async function bringUpTestbed(io: Io, call: UpCall): Promise<void> {
  const testbed = await withInterrupt((signal) => create(io, call, signal));
  try {
    await show(io, call, testbed);
    if (call.foreground) await stayUp(io, testbed);
  } finally {
    await testbed.release();
  }
}

/** Interrupted or failed, nothing is left; reaching each other is another matter: then it stays, to be looked at. */
async function create(io: Io, { name, shape, json }: UpCall, signal: AbortSignal): Promise<Testbed> {
  const step = observeSteps(io);
  const testbed = await createTestbed({ ...shape, name, signal, observer: step });
  try {
    await step('pods of all nodes reach each other', () => settle(testbed, signal));
  } catch (error) {
    if (signal.aborted) await testbed.close();
    else if (!json) reportFailure(io, error, { json: false, debug: false });
    io.exitCode = exitCodes.notAsItShould;
  }
  return testbed;
}

function observeSteps(io: Io): StepObserver {
  const progress = startProgress(io);
  // Only a terminal has room for what changes.
  const tell = (what: string, detail: string): void => void (io.stderr.isTTY && progress.show(what, detail));
  return (what, work) => progress.step(what, () => work((detail) => tell(what, detail)));
}

async function show(io: Io, { json }: UpCall, testbed: Testbed): Promise<void> {
  const state = await observeTestbed(testbed);
  if (json) return writeJson(io, state);
  const paint = colorsFor(io, io.stdout);
  const only = listTestbeds().length === 1;
  return writeLines(io, [
    '',
    ...renderState(state, io.now(), paint),
    '',
    ...renderNext(state, ownName(io), only, paint),
  ]);
}

async function stayUp(io: Io, testbed: Testbed): Promise<void> {
  const paint = colorsFor(io, io.stderr);
  io.stderr.write(`\n${paint.dim('It goes on until Ctrl-C.')}\n`);
  await untilInterrupted(io, async (signal) => {
    while (!signal.aborted) await sleep(3_600_000, undefined, { signal }).catch(() => undefined);
    await startProgress(io).step('everything taken away', () => testbed.close());
  });
}
