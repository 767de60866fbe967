import os from 'node:os';

const names = new Map(Object.entries(os.constants.errno).map(([name, value]) => [value, name]));

// Numbers with two names get the one that the kernel's own sources use.
for (const name of ['EAGAIN', 'EOPNOTSUPP'] as const) names.set(os.constants.errno[name], name);

// Codes of networking calls that Node does not list, from asm-generic/errno.h.
const unlisted: readonly [number, string][] = [
  [44, 'ECHRNG'],
  [49, 'EUNATCH'],
  [64, 'ENONET'],
  [66, 'EREMOTE'],
  [76, 'ENOTUNIQ'],
  [87, 'EUSERS'],
  [94, 'ESOCKTNOSUPPORT'],
  [96, 'EPFNOSUPPORT'],
  [108, 'ESHUTDOWN'],
  [109, 'ETOOMANYREFS'],
  [112, 'EHOSTDOWN'],
  [132, 'ERFKILL'],
];
for (const [value, name] of unlisted) if (!names.has(value)) names.set(value, name);

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
