/** The switches of a testbed, and the names that its cluster has. */
import { openTestbed, type Testbed } from '@podwire/testbed';
import { storeRoot } from '@podwire/testbed/shape';
import { withInterrupt } from '../interrupt.js';
import type { Io } from '../io.js';
import { chooseTestbed } from '../testbed/choose.js';
import type { ClusterNames } from './names.js';
import { readStoreNames } from './read-names.js';
import type { Switches } from './walk.js';

/** @throws PodwireError TESTBED_FAILED, STORE_UNAVAILABLE */
export async function findTestbedSwitches(io: Io, given: string, bridge: string): Promise<Switches> {
  const testbed = await openTestbed(await chooseTestbed(io, given));
  try {
    const names = await withInterrupt((signal) => readTestbedNames(testbed, signal));
    const runDirs = new Map(testbed.nodes.map(({ name, openVSwitch }) => [name, openVSwitch?.runDir]));
    const findSwitch: Switches['findSwitch'] = (node = '') => {
      const runDir = runDirs.get(node);
      return runDir === undefined ? undefined : { bridge, runDir };
    };
    return { names, findSwitch };
  } finally {
    await testbed.release();
  }
}

async function readTestbedNames(
  { name, store: stores }: Testbed,
  signal: AbortSignal,
): Promise<ClusterNames> {
  const store = await stores.open();
  try {
    return { ...(await readStoreNames(store, storeRoot, signal)), source: `the testbed ${name}` };
  } finally {
    await store.close();
  }
}
