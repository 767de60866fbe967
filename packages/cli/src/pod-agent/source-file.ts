/** The places of manifests that were added while the pod agent ran. Their pods come back after a reboot too. */
import fs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import type { Places } from '../pods/locate.js';

export interface SavedSources {
  readonly files: readonly string[];
  /** With the users and passwords that some need: a restart must be able to ask again. Nothing shows them. */
  readonly urls: readonly string[];
}

const nothing: SavedSources = { files: [], urls: [] };

const fileOf = ({ podletState }: Places): string => path.join(podletState, 'sources.json');

/** What was saved; `problem` says why the file is of no use. Pods of places that are not known any more stay until those are given again. */
export function loadSources(places: Places): SavedSources & { readonly problem?: string } {
  const file = fileOf(places);
  try {
    const read = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<SavedSources> | null;
    const { files, urls } = read ?? {};
    if (isTexts(files) && isTexts(urls)) return { files, urls };
    return { ...nothing, problem: `${file} is no list of places` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing;
    return { ...nothing, problem: `${file}: ${describeError(error)}` };
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Only root reads it. It reaches the disk before it takes the old one's place: half a file would be none. */
export function saveSources(places: Places, { files, urls }: SavedSources): void {
  const file = fileOf(places);
  const fresh = `${file}.new`;
  fs.rmSync(fresh, { force: true });
  fs.writeFileSync(fresh, JSON.stringify({ files, urls }), { mode: 0o600, flush: true });
  fs.renameSync(fresh, file);
}
