/** A store that answers, and says no: waiting alone does not help, so people are told. One that is away is shown as such. */
import { PodwireError } from '@podwire/errors';
import type { Core } from './core.js';

const refusals: ReadonlySet<string> = new Set(['STORE_DENIED', 'STORE_FULL']);

/** @param about what was asked for: `blocks` or `reports` @param error undefined: it went well */
export function noteRefusal({ problems }: Pick<Core, 'problems'>, about: string, error: unknown): void {
  if (error instanceof PodwireError && refusals.has(error.code))
    problems.set(`store ${about}`, `${error.code}: ${about} of this node: ${error.message}`);
  else problems.delete(`store ${about}`);
}
