import { formatSavedState, parseSavedState, type SavedStateStore } from '@podwire/cluster-ipam';
import type { StateFiles } from './state-files.js';

const fileName = 'holdings.json';

/**
 * What the node knows of its own blocks, in the state directory. A file of another name or instance is as good as none: it
 * was not written in this life of the node.
 */
export function openSavedStateFile(files: StateFiles, node: string, instance: string): SavedStateStore {
  return {
    read() {
      const found = parseSavedState(files.read(fileName) ?? '');
      return found?.node === node && found.instance === instance ? found : undefined;
    },
    write: (file) => files.write(fileName, formatSavedState(file)),
  };
}
