/** The places of manifests that were added while the pod agent ran. Their pods come back after a reboot too. */
import fs from 'node:fs';
import path from 'node:path';
import type { Places } from '../pods/locate.js';

export interface SavedSources {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

const fileOf = ({ podletState }: Places): string => path.join(podletState, 'sources.json');

export function loadSources(places: Places): SavedSources {
  try {
    return JSON.parse(fs.readFileSync(fileOf(places), 'utf8')) as SavedSources;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { files: [], urls: [] };
  }
}

export function saveSources(places: Places, sources: SavedSources): void {
  const file = fileOf(places);
  fs.writeFileSync(`${file}.new`, JSON.stringify(sources), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
}
