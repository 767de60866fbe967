import { PodwireError } from '@podwire/errors';

/** The error that `act` must throw. */
export function refusal(act: () => unknown): PodwireError {
  try {
    act();
  } catch (error) {
    if (error instanceof PodwireError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
