/** Diagnostics of the objects of a dump. */

/** `error`: nothing is written. `warning`: it will not be as it was. `note`: for the record. */
export type Level = 'error' | 'warning' | 'note';

export interface Diagnostic {
  readonly level: Level;
  /** `IPPool default-pool`, `block 10.0.0.0/26`, or a file. */
  readonly object: string;
  /** `spec.cidr`; absent where it is about the whole. */
  readonly field?: string;
  readonly message: string;
}

/** Collects diagnostics about one object. */
export interface Diagnostics {
  error(field: string, message: string): void;
  warn(field: string, message: string): void;
  note(message: string): void;
}

export function diagnosticsFor(object: string, into: Diagnostic[]): Diagnostics {
  return {
    error: (field, message) => void into.push({ level: 'error', object, field, message }),
    warn: (field, message) => void into.push({ level: 'warning', object, field, message }),
    note: (message) => void into.push({ level: 'note', object, message }),
  };
}

export const describeDiagnostic = ({ object, field, message }: Diagnostic): string =>
  [object, field, message].filter((part) => part !== undefined && part !== '').join(': ');

/** `a, b and 3 more` */
export function listSome(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}
