import os from 'node:os';

const names = new Map(Object.entries(os.constants.errno).map(([name, value]) => [value, name]));

/** The symbolic name of an errno (`17` → `EEXIST`); negative values, as netlink sends them, are accepted. */
export function errnoName(errno: number): string {
  const value = Math.abs(errno);
  return names.get(value) ?? `E${value}`;
}

/** A system call failed. `code` is the errno's name, as in Node's own errors. */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly syscall: string;

  constructor(syscall: string, errno: number, detail?: string) {
    const code = errnoName(errno);
    super(detail === undefined ? `${syscall}: ${code}` : `${syscall}: ${code} (${detail})`);
    this.name = 'SystemError';
    this.code = code;
    this.errno = Math.abs(errno);
    this.syscall = syscall;
  }
}

/** Whether `error` carries one of the errno names, e.g. `hasCode(error, 'ENOENT', 'ENOTDIR')`. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
