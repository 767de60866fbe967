/** `podwire testbed up`. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestbed,
  waitUntilConnected,
  type Shape,
  type StepObserver,
  type Testbed,
} from '@podwire/testbed';
import { reportFailure } from '../failure.js';
import { untilInterrupted, withInterrupt } from '../interrupt.js';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { findTestbeds } from './choose.js';
import { observeTestbed } from './observe.js';
import { ownName } from '../own-name.js';
import { renderNext, renderState } from './render-state.js';

export interface UpCall {
  readonly name: string;
  readonly shape: Partial<Shape>;
  readonly foreground: boolean;
  readonly json: boolean;
}

/** Interrupted, nothing is left of it; otherwise it stays, also when its pods do not reach each other: to be looked at. */
export async function bringUpTestbed(io: Io, call: UpCall): Promise<void> {
  const work = async (signal: AbortSignal): Promise<void> => {
    const testbed = await create(io, call, signal);
    try {
      signal.throwIfAborted();
      await show(io, call, testbed);
      if (call.foreground) await stayUp(io, signal);
    } finally {
      await (signal.aborted ? takeAway(io, testbed) : testbed.release());
    }
  };
  return call.foreground ? untilInterrupted(io, work) : withInterrupt(work);
}

const takeAway = (io: Io, testbed: Testbed): Promise<void> =>
  startProgress(io).step('everything taken away', () => testbed.close());

async function create(io: Io, { name, shape, json }: UpCall, signal: AbortSignal): Promise<Testbed> {
  const step = observeSteps(io);
  const testbed = await createTestbed({ ...shape, name, signal, observer: step });
  try {
    await step('pods of all nodes reach each other', () => waitUntilConnected(testbed, signal));
  } catch (error) {
    io.exitCode = exitCodes.notAsItShould;
    if (!json && !signal.aborted) reportFailure(io, error, { json: false, debug: false });
  }
  return testbed;
}

function observeSteps(io: Io): StepObserver {
  const progress = startProgress(io);
  // Only a terminal has room for what changes.
  const report = (what: string, detail: string): void =>
    void (io.stderr.isTTY && progress.show(what, detail));
  return (what, work) => progress.step(what, () => work((detail) => report(what, detail)));
}

async function show(io: Io, { json }: UpCall, testbed: Testbed): Promise<void> {
  const state = await observeTestbed(testbed);
  if (json) return writeJson(io, state);
  const paint = colorsFor(io, io.stdout);
  const only = (await findTestbeds(io)).length === 1;
  return writeLines(io, [
    '',
    ...renderState(state, io.now(), paint, widthOf(io)),
    '',
    ...renderNext(state, ownName(io), only, paint),
  ]);
}

async function stayUp(io: Io, signal: AbortSignal): Promise<void> {
  io.stderr.write(`\n${colorsFor(io, io.stderr).dim('It goes on until Ctrl-C.')}\n`);
  // A timer, for something must keep the process.
  while (!signal.aborted) await sleep(3_600_000, undefined, { signal }).catch(() => undefined);
}
