/** The places of manifests that were added while the pod agent ran. Their pods come back after a reboot too. */
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { readIfExistsSync, replaceFileSync } from '@podwire/platform';
import type { Places } from '../pods/locate.js';

export interface SavedSources {
  readonly files: readonly string[];
  /** With the users and passwords that some need: a restart must be able to ask again. Nothing shows them. */
  readonly urls: readonly string[];
}

const nothing: SavedSources = { files: [], urls: [] };

const fileOf = ({ podletState }: Places): string => path.join(podletState, 'sources.json');

/**
 * The saved places; `problem` is set when the file is of no use. Pods of lost places stay until they are given again.
 */
export function loadSources(places: Places): SavedSources & { readonly problem?: string } {
  const file = fileOf(places);
  try {
    const text = readIfExistsSync(file);
    if (text === undefined) return nothing;
    const read = JSON.parse(text) as Partial<SavedSources> | null;
    const { files, urls } = read ?? {};
    if (isTexts(files) && isTexts(urls)) return { files, urls };
    return { ...nothing, problem: `${file} is no list of places` };
  } catch (error) {
    return { ...nothing, problem: `${file}: ${describeError(error)}` };
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Only root reads it. Half a file would be none. */
export function saveSources(places: Places, { files, urls }: SavedSources): void {
  replaceFileSync(fileOf(places), JSON.stringify({ files, urls }), { mode: 0o600, flush: true });
}
