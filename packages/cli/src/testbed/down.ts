/** `podwire testbed down`. */
import { PodwireError } from '@podwire/errors';
import { isAlive } from '@podwire/linux';
import { countTestbed, isNothing, pathsOf, readRecord, tearDownTestbed } from '@podwire/testbed';
import { colorsFor, exitCodes, type Io, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { chooseTestbed, findTestbeds } from './choose.js';
import { type Ending, renderEnding } from './render-ending.js';

export interface DownCall {
  readonly name: string | undefined;
  readonly all: boolean;
  readonly json: boolean;
}

interface Ended extends Ending {
  readonly name: string;
}

export async function tearDownTestbeds(io: Io, { name, all, json }: DownCall): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new PodwireError('PRIVILEGE_MISSING', 'only root can take a testbed down');
  const there = await findTestbeds(io);
  const names = all || (there.length === 0 && name === undefined) ? there : [await chooseTestbed(io, name)];
  const progress = startProgress(io);
  const ended: Ended[] = [];
  for (const each of names) {
    requireNoMaker(each);
    const before = await progress.step(`testbed ${each} taken away`, () => tearDownTestbed(each));
    ended.push({ name: each, before, left: countTestbed(each) });
  }
  if (ended.some(({ left }) => !isNothing(left))) io.exitCode = exitCodes.notAsItShould;
  if (json) return writeJson(io, { ended });
  if (ended.length === 0) return writeLines(io, ['no testbed is up']);
  const paint = colorsFor(io, io.stdout);
  return writeLines(
    io,
    ended.map((each) => renderEnding(each, paint, ` of ${each.name}`)),
  );
}

/** One that is being made would go on being made while it is taken away. */
function requireNoMaker(name: string): void {
  const record = readRecord(pathsOf(name));
  if (record?.phase !== 'coming up' || !isAlive(record.owner)) return;
  const message = `the testbed ${name} is coming up at this moment, made by process ${record.owner.pid}: end that one, which takes it away`;
  throw new PodwireError('TESTBED_FAILED', message);
}
