/** Which testbed a command is about: by name, by `PODWIRE_TESTBED`, or the only one. */
import { PodwireError } from '@podwire/errors';
import type { Io } from '../io.js';

/** Those of this machine, unless the caller has others. */
export async function findTestbeds(io: Io): Promise<readonly string[]> {
  return io.testbeds ?? (await import('@podwire/testbed')).listTestbeds();
}

/**
 * @param otherwise what else can be done where there is none
 * @throws PodwireError TESTBED_FAILED naming those that there are; PRIVILEGE_MISSING
 */
export async function chooseTestbed(io: Io, given: string | undefined, otherwise = ''): Promise<string> {
  const name = given ?? (io.env['PODWIRE_TESTBED'] || undefined);
  const all = await findTestbeds(io);
  if (name === undefined && all.length === 1) return all[0]!;
  if (name !== undefined && all.includes(name)) return name;
  const others =
    all.length === 0
      ? `none is up: podwire testbed up${otherwise}`
      : `there ${all.length === 1 ? 'is' : 'are'} ${all.join(', ')}`;
  if (name !== undefined)
    throw new PodwireError('TESTBED_FAILED', `there is no testbed ${name}; ${others}`, { action: null });
  const why = all.length === 0 ? 'there is no testbed' : 'there are several testbeds';
  throw new PodwireError(
    'TESTBED_FAILED',
    `${why}; ${all.length === 0 ? others : `name one with --testbed: ${all.join(', ')}`}`,
    // Which are there is in the message, and none of them is in the way.
    { action: null },
  );
}
