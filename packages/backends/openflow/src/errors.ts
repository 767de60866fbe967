import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/platform';

/** Something of ours that was to be made is there already. */
export class FlowError extends Error {
  readonly code = 'FLOW_EXISTS';

  constructor(message: string) {
    super(message);
    this.name = 'FlowError';
  }
}

/** A flow or group of others stands in the place of ours, or goes where ours goes. */
export const takenError = (message: string): PodwireError => new PodwireError('FLOW_TAKEN', message);

/** For errors of the connection: the owners of flows on a bridge pay for it, and no others. */
export const silentError = (bridge: string, cause: unknown): PodwireError =>
  new PodwireError('BACKEND_SILENT', `bridge ${bridge} cannot be used: ${describeError(cause)}`, { cause });

/** Nothing listens for the bridge: there is none, or ovs-vswitchd does not run. Nothing of ours can be there. */
export const isNoBridge = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ECONNREFUSED');

/** The switch has ended the connection. */
export const isCut = (error: unknown): boolean => hasCode(error, 'ECONNRESET', 'ENOTCONN', 'EPIPE');

export const isConflict = (error: unknown): boolean => hasCode(error, 'FLOW_EXISTS', 'FLOW_TAKEN');
