import type { EmbeddedOptions, EmbeddedStore } from './options.js';

export type { EmbeddedOptions, EmbeddedStore } from './options.js';

/**
 * The store in a directory of this machine, for all its processes at once (LMDB). LMDB is loaded here and not before.
 * @param directory is made, for its owner alone, when it is not there and `create` is not false
 * @throws PodwireError CONFIG_INVALID for a directory that has other things in it, or no store that must be there; STORE_DENIED,
 * STORE_FULL, STORE_UNAVAILABLE; OBJECT_TOO_NEW for a store of a newer version
 */
export async function openEmbeddedStore(directory: string, options: EmbeddedOptions): Promise<EmbeddedStore> {
  const { createEmbeddedStore } = await import('./store.js');
  return createEmbeddedStore(directory, options);
}
