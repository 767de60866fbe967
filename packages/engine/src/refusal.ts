/** How a call says that it was refused or came too late. */
import { describeError, PodwireError } from '@podwire/errors';
import type { EngineContext } from './call.js';
import type { Failure, OwnerId, Resource } from './contract.js';

export function throwIfExpired(
  { kinds }: EngineContext,
  signal: AbortSignal,
  next: Resource | undefined,
): void {
  if (!signal.aborted) return;
  const before = next === undefined ? '' : ` before ${kinds.describe(next)}`;
  throw new PodwireError('DEADLINE_EXCEEDED', `the call was given up${before}`, { cause: signal.reason });
}

/** One error for all of these; what many share is said once. */
export function refusal(
  { kinds }: EngineContext,
  owner: OwnerId,
  failures: readonly Failure[],
): PodwireError {
  const [first] = failures;
  if (first?.error instanceof PodwireError) return first.error;
  const distinct = failures.filter(
    ({ error }, index) => failures.findIndex((other) => other.error === error) === index,
  );
  const words = distinct.map(({ resource, error }) => `${kinds.describe(resource)}: ${describeError(error)}`);
  return new PodwireError('KERNEL_REFUSED', `${owner}: ${words.join('; ')}`, { cause: first?.error });
}
