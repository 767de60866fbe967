/** Capabilities by name (linux/capability.h); the number is the bit. */
import { CriError, type Capability } from '@podwire/cri';

const names = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'],
  ...['SETPCAP', 'LINUX_IMMUTABLE', 'NET_BIND_SERVICE', 'NET_BROADCAST', 'NET_ADMIN', 'NET_RAW'],
  ...['IPC_LOCK', 'IPC_OWNER', 'SYS_MODULE', 'SYS_RAWIO', 'SYS_CHROOT', 'SYS_PTRACE', 'SYS_PACCT'],
  ...['SYS_ADMIN', 'SYS_BOOT', 'SYS_NICE', 'SYS_RESOURCE', 'SYS_TIME', 'SYS_TTY_CONFIG', 'MKNOD', 'LEASE'],
  ...['AUDIT_WRITE', 'AUDIT_CONTROL', 'SETFCAP', 'MAC_OVERRIDE', 'MAC_ADMIN', 'SYSLOG', 'WAKE_ALARM'],
  ...['BLOCK_SUSPEND', 'AUDIT_READ', 'PERFMON', 'BPF', 'CHECKPOINT_RESTORE'],
];

/** The set that Docker and containerd leave a container, without MKNOD: here no control group says which devices may be opened. */
const usual = [
  ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SETPCAP'],
  ...['NET_BIND_SERVICE', 'NET_RAW', 'SYS_CHROOT', 'AUDIT_WRITE', 'SETFCAP'],
];

export const allCapabilities = (1n << 64n) - 1n;

/** @throws CriError INVALID_ARGUMENT for a name that is none */
function bitsOf(list: readonly string[]): bigint {
  return list.reduce((bits, name) => bits | bitOf(name), 0n);
}

function bitOf(name: string): bigint {
  const plain = name.toUpperCase().replace(/^CAP_/, '');
  if (plain === 'ALL') return allCapabilities;
  const index = names.indexOf(plain);
  if (index < 0) throw new CriError('INVALID_ARGUMENT', `there is no capability ${name}`);
  return 1n << BigInt(index);
}

/** As Docker: `ALL` first, then single ones; what is dropped is dropped although it was added. */
export function chooseCapabilities(requested: Capability | undefined): bigint {
  const { addCapabilities = [], dropCapabilities = [] } = requested ?? {};
  const isAll = (name: string): boolean => name.toUpperCase() === 'ALL';
  let bits = bitsOf(usual);
  if (addCapabilities.some(isAll)) bits = allCapabilities;
  if (dropCapabilities.some(isAll)) bits = 0n;
  bits |= bitsOf(addCapabilities.filter((name) => !isAll(name)));
  return bits & ~bitsOf(dropCapabilities.filter((name) => !isAll(name)));
}
