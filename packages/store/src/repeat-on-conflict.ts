import { PodwireError } from '@podwire/errors';

/** Another writer may come between a look and a write. */
const attempts = 5;

/**
 * A look and a write that depends on it, again where another writer has come between them.
 * @throws PodwireError STORE_CONFLICT after five attempts; what `write` throws otherwise
 */
export async function repeatOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let left = attempts; ; left--)
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof PodwireError && error.code === 'STORE_CONFLICT';
      if (!isConflict || left === 1) throw error;
    }
}
