/** `podwire testbed status`. */
import { openTestbed } from '@podwire/testbed';
import { colorsFor, exitCodes, type Io, widthOf, writeJson, writeLines } from '../io.js';
import { chooseTestbed } from './choose.js';
import { isWell, observeTestbed } from './observe.js';
import { renderState } from './render-state.js';

export async function showTestbed(io: Io, given: string | undefined, json: boolean): Promise<void> {
  const testbed = await openTestbed(await chooseTestbed(io, given));
  try {
    const state = await observeTestbed(testbed);
    if (!isWell(state)) io.exitCode = exitCodes.notAsItShould;
    if (json) return writeJson(io, state);
    return writeLines(io, renderState(state, io.now(), colorsFor(io, io.stdout), widthOf(io)));
  } finally {
    await testbed.release();
  }
}
