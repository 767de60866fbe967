/**
 * The error codes that the specification reserves (1.1.0, section 5, "Error"; 50 and 51: section 2, `STATUS`).
 * 8 and 999 are not in its text but in all implementations. A plugin's own codes start at 100.
 */
import { compact } from '@podwire/platform';
export const errorCodes = {
  unknown: 0,
  incompatibleVersion: 1,
  unsupportedField: 2,
  /** The runtime need not call DEL for this container. */
  unknownContainer: 3,
  invalidEnvironment: 4,
  ioFailure: 5,
  decodingFailure: 6,
  invalidNetworkConfig: 7,
  invalidNamespace: 8,
  /** A passing condition; the same call may succeed later. */
  tryAgainLater: 11,
  /** STATUS: no ADD can be served. */
  notAvailable: 50,
  /** STATUS: no ADD can be served and containers that run may have lost connectivity. */
  limitedConnectivity: 51,
  internal: 999,
} as const;

/** The form of an error on a plugin's standard output. */
export interface ErrorDocument {
  readonly cniVersion?: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

export interface CniErrorOptions {
  /** Longer text for people. */
  readonly details?: string | undefined;
  /** Version of the request that failed; goes into the JSON form. */
  readonly cniVersion?: string | undefined;
  readonly cause?: unknown;
}

/** Any failure of a CNI operation. `code` is one of {@link errorCodes}, or a plugin's own from 100. */
export class CniError extends Error {
  readonly code: number;
  readonly details: string | undefined;
  readonly cniVersion: string | undefined;

  constructor(code: number, msg: string, options: CniErrorOptions = {}) {
    super(msg, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CniError';
    this.code = code;
    this.details = options.details;
    this.cniVersion = options.cniVersion;
  }

  /** The same as `message`, under the name the specification uses. */
  get msg(): string {
    return this.message;
  }

  /**
   * The form that goes to standard output (section 5, "Error"). `cniVersion` is required there; Go's skeleton leaves
   * it out, this does not when the version is known.
   */
  toJSON(): ErrorDocument {
    return {
      ...compact({ cniVersion: this.cniVersion }),
      code: this.code,
      msg: this.message,
      ...(this.details === undefined || this.details === '' ? {} : { details: this.details }),
    };
  }

  /** The same error, saying which version the request had. */
  withVersion(cniVersion: string): CniError {
    if (this.cniVersion === cniVersion) return this;
    return new CniError(this.code, this.message, { details: this.details, cniVersion, cause: this.cause });
  }

  /**
   * Reads what a plugin printed. Returns undefined when it is no error object: `msg` must be text, and `code` a whole
   * number from 0 or absent (which means 0, as Go's decoder has it).
   */
  static fromJSON(value: unknown): CniError | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const { code = 0, msg, details, cniVersion } = value as Record<string, unknown>;
    if (typeof code !== 'number' || !Number.isInteger(code) || code < 0 || typeof msg !== 'string')
      return undefined;
    return new CniError(code, msg, {
      details: typeof details === 'string' ? details : undefined,
      cniVersion: typeof cniVersion === 'string' ? cniVersion : undefined,
    });
  }

  /** Makes a CniError of anything thrown; what is none becomes code 999 with its cause kept. */
  static from(error: unknown): CniError {
    if (error instanceof CniError) return error;
    return new CniError(errorCodes.internal, error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
