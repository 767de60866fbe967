/** `-w`: a terminal is drawn again, a pipe gets what has changed, and a program gets a document a line. */
import { describeError } from '@podwire/errors';
import { Notify, systemClock } from '@podwire/platform';
import type { Command } from 'commander';
import { outputOf } from '../command.js';
import { describeFailure } from '../failure.js';
import { untilInterrupted } from '../interrupt.js';
import { colorsFor, type Io, printable, writeLines } from '../io.js';
import { formatJsonLine } from './document.js';
import type { View } from './view.js';

/** Milliseconds between two looks; what tells of its changes is looked at sooner. */
const pause = 1_000;

/** Writes what it is given, if that is new. */
type Writer<T> = (value: T) => Promise<void>;

export async function watchView<T>(command: Command, io: Io, view: View<T>): Promise<void> {
  const write = chooseWriter(outputOf(command), io, view);
  return untilInterrupted(io, async (signal) => {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const change = new Notify();
    const following = keepFollowing(view, change.notify, either);
    try {
      await keepWriting(io, view, write, change, signal);
    } finally {
      stop.abort();
      await following;
    }
  });
}

function chooseWriter<T>(format: string, io: Io, view: View<T>): Writer<T> {
  if (format === 'json') return writeDocuments(io, view);
  if (format === 'name') return writeNames(io, view);
  return io.stdout.isTTY === true ? drawLines(io, view) : appendRows(io, view);
}

async function keepWriting<T>(
  io: Io,
  view: View<T>,
  write: Writer<T>,
  change: Notify,
  signal: AbortSignal,
): Promise<void> {
  let known = false;
  let told = '';
  while (!signal.aborted) {
    try {
      const value = await view.read(signal);
      view.evaluate?.(value);
      await write(value);
      known = true;
      told = '';
    } catch (error) {
      if (signal.aborted) break;
      // A server that never answered is an error; one that answers no more may come back.
      if (!known) throw error;
      told = tellOnce(io, error, told);
    }
    await change.notifiedWithin(pause, systemClock, signal);
  }
}

function tellOnce(io: Io, error: unknown, told: string): string {
  const { message } = describeFailure(error);
  if (message !== told) io.stderr.write(`${colorsFor(io, io.stderr).red('error:')} ${printable(message)}\n`);
  return message;
}

/** A stream that ends (its server was started again) is opened again after a while. */
async function keepFollowing<T>({ watch }: View<T>, wake: () => void, signal: AbortSignal): Promise<void> {
  if (watch?.follow === undefined) return;
  while (!signal.aborted) {
    // `read` reports if the server is there.
    await watch.follow(wake, signal).catch((error: unknown) => describeError(error));
    await systemClock.sleep(pause, signal).catch(() => undefined);
  }
}

/** Calls the writer only for what differs from the last. */
function ifChanged<T>({ data, watch }: View<T>, write: Writer<T>): Writer<T> {
  let last: string | undefined;
  return async (value) => {
    const essence = JSON.stringify(watch?.essence?.(value) ?? data(value));
    if (essence === last) return;
    last = essence;
    await write(value);
  };
}

/** One a line; YAML documents have their own mark, and a template says itself where lines end. */
function writeDocuments<T>(io: Io, view: View<T>): Writer<T> {
  const { format = 'json' } = io;
  return ifChanged(view, (value) => {
    const document = view.data(value);
    if (format === 'json') io.stdout.write(formatJsonLine(document));
    else if (format === 'yaml') io.stdout.write(`---\n${io.writeDocument?.(document) ?? ''}`);
    else io.stdout.write(`${(io.writeDocument?.(document) ?? '').replace(/\n$/, '')}\n`);
    return Promise.resolve();
  });
}

/** Each name when it is new. */
function writeNames<T>(io: Io, view: View<T>): Writer<T> {
  const written = new Set<string>();
  return (value) => {
    for (const name of view.names?.(value) ?? []) {
      if (!written.has(name)) io.stdout.write(`${name}\n`);
      written.add(name);
    }
    return Promise.resolve();
  };
}

/** The latest picture in the place of the one before. */
function drawLines<T>(io: Io, view: View<T>): Writer<T> {
  let drawn = '';
  let height = 0;
  return async (value) => {
    const all = [...(view.notes?.(value) ?? []), ...(await view.lines(value))];
    const room = Math.max(1, (io.stdout.rows ?? 24) - 1);
    const hidden = all.length - room;
    const lines = hidden > 0 ? [...all.slice(0, room - 1), `… and ${hidden + 1} more lines`] : all;
    const picture = `${lines.join('\n')}\n`;
    if (picture === drawn) return;
    const back = height === 0 ? '' : `\u001b[${height}A`;
    io.stdout.write(`${back}\r\u001b[J${picture}`);
    drawn = picture;
    height = lines.length;
  };
}

/** The whole table, then each row that has changed; what is no table, again when something has changed. */
function appendRows<T>(io: Io, view: View<T>): Writer<T> {
  const rowsOf = view.watch?.rows;
  if (rowsOf === undefined) {
    return ifChanged(view, async (value) => writeLines(io, await view.lines(value)));
  }
  let known: Set<string> | undefined;
  return async (value) => {
    const rows = rowsOf(value).map((row) => JSON.stringify(row));
    const lines = await view.lines(value);
    const before = known;
    if (before === undefined) for (const note of view.notes?.(value) ?? []) io.stderr.write(`${note}\n`);
    // The first line is the head; what stands below the rows is said once.
    const fresh =
      before === undefined
        ? lines
        : lines.slice(1, rows.length + 1).filter((_, index) => !before.has(rows[index]!));
    if (fresh.length > 0) writeLines(io, fresh);
    if (lines.length > 0 || before !== undefined) known = new Set(rows);
  };
}
