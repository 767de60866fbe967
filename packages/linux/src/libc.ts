/**
 * The C library, declared once. This file is the only one in the project that calls foreign functions;
 * everything above it sees typed functions that throw {@link SystemError}.
 */
import koffi from 'koffi';
import { SystemError } from './errno.js';

/** The process's own symbols: they include the C library, whichever file it is in (glibc, musl). */
const libc = koffi.load(null);

// koffi has no `ssize_t`; int64 is what it is on every 64-bit Linux.
const native = {
  socket: libc.func('int socket(int, int, int)'),
  connect: libc.func('int connect(int, const void *, uint32_t)'),
  bind: libc.func('int bind(int, const void *, uint32_t)'),
  send: libc.func('int64_t send(int, const void *, uint64_t, int)'),
  recv: libc.func('int64_t recv(int, void *, uint64_t, int)'),
  recvfrom: libc.func('int64_t recvfrom(int, void *, uint64_t, int, void *, void *)'),
  recvmsg: libc.func('int64_t recvmsg(int, void *, int)'),
  getsockname: libc.func('int getsockname(int, void *, void *)'),
  setsockopt: libc.func('int setsockopt(int, int, int, const void *, uint32_t)'),
  getsockopt: libc.func('int getsockopt(int, int, int, void *, void *)'),
  setns: libc.func('int setns(int, int)'),
  unshare: libc.func('int unshare(int)'),
  mount: libc.func('int mount(const char *, const char *, const char *, uint64_t, const char *)'),
  umount2: libc.func('int umount2(const char *, int)'),
  fstatfs: libc.func('int fstatfs(int, void *)'),
  ioctl: libc.func('int ioctl(int, uint64_t, uint64_t)'),
  ioctlBuffer: libc.func('int ioctl(int, uint64_t, void *)'),
  flock: libc.func('int flock(int, int)'),
};

type Result = number | bigint;

function check(syscall: string, result: Result): number {
  if (result < 0) throw new SystemError(syscall, koffi.errno());
  return Number(result);
}

export function socket(domain: number, type: number, protocol: number): number {
  return check('socket', native.socket(domain, type, protocol) as Result);
}

export function bind(fd: number, address: Uint8Array): void {
  check('bind', native.bind(fd, address, address.length) as Result);
}

/** Sets the address that {@link send} sends to. */
export function connect(fd: number, address: Uint8Array): void {
  check('connect', native.connect(fd, address, address.length) as Result);
}

/** Sends one datagram, synchronously. Returns the number of bytes sent. */
export function send(fd: number, data: Uint8Array, flags = 0): number {
  return check('send', native.send(fd, data, data.length, flags) as Result);
}

/**
 * Like {@link send}, on a thread of libuv's pool: for the few requests that the kernel answers slowly. `data` must
 * not change before the promise settles. The error is that of this very call: koffi (since 3.2.1) keeps the errno
 * of the pool thread and puts it back around the callback.
 */
export async function sendAsync(fd: number, data: Uint8Array, flags = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    native.send.async(fd, data, data.length, flags, (error: Error | null, result: Result) => {
      if (error) reject(error);
      else if (result < 0) reject(new SystemError('send', koffi.errno()));
      else resolve(Number(result));
    });
  });
}

/** Receives one datagram into `into`. With `MSG_TRUNC` in flags the result may exceed `into.length`. */
export function receive(fd: number, into: Uint8Array, flags = 0): number {
  return check('recv', native.recv(fd, into, into.length, flags) as Result);
}

/**
 * Like {@link receive}, also writing the sender's socket address into `sender` (which is as long as an address of
 * the socket's family).
 */
export function receiveFrom(fd: number, into: Uint8Array, flags: number, sender: Uint8Array): number {
  addressLength[0] = sender.length;
  return check('recvfrom', native.recvfrom(fd, into, into.length, flags, sender, addressLength) as Result);
}

const addressLength = new Uint32Array(1);

/** The address that the socket itself has, written into `into`, which is as long as an address of its family. */
export function socketName(fd: number, into: Uint8Array): void {
  addressLength[0] = into.length;
  check('getsockname', native.getsockname(fd, into, addressLength) as Result);
}

/** Facts of a received datagram: its real length, also where it was cut, and how much of `control` was written. */
export interface ReceivedMessage {
  readonly length: number;
  readonly controlLength: number;
}

/** Receives one datagram with its control messages (recvmsg(2)). Both buffers must not move: `Buffer.allocUnsafeSlow`. */
export function receiveMessage(
  fd: number,
  into: Uint8Array,
  control: Uint8Array,
  flags: number,
): ReceivedMessage {
  vector.writeBigUInt64LE(koffi.address(into), 0);
  vector.writeBigUInt64LE(BigInt(into.length), 8);
  messageHeader.fill(0);
  messageHeader.writeBigUInt64LE(koffi.address(vector), 16);
  messageHeader.writeBigUInt64LE(1n, 24);
  messageHeader.writeBigUInt64LE(koffi.address(control), 32);
  messageHeader.writeBigUInt64LE(BigInt(control.length), 40);
  const length = check('recvmsg', native.recvmsg(fd, messageHeader, flags) as Result);
  return { length, controlLength: Number(messageHeader.readBigUInt64LE(40)) };
}

/** struct iovec and struct msghdr of 64-bit Linux; calls are synchronous, so one of each is enough. */
const vector = Buffer.allocUnsafeSlow(16);
const messageHeader = Buffer.allocUnsafeSlow(56);

export function setSocketOption(fd: number, level: number, option: number, value: Uint8Array): void {
  check('setsockopt', native.setsockopt(fd, level, option, value, value.length) as Result);
}

/** Reads a socket option of at most `size` bytes. */
export function getSocketOption(fd: number, level: number, option: number, size: number): Buffer {
  const value = Buffer.alloc(size);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(size);
  check('getsockopt', native.getsockopt(fd, level, option, value, length) as Result);
  return value.subarray(0, length.readUInt32LE());
}

export function setNamespace(fd: number, kind: number): void {
  check('setns', native.setns(fd, kind) as Result);
}

export function unshare(flags: number): void {
  check('unshare', native.unshare(flags) as Result);
}

export function bindMount(source: string, target: string): void {
  check('mount', native.mount(source, target, 'none', MS_BIND, null) as Result);
}

/** With everything that is mounted below the source. */
export function bindMountTree(source: string, target: string): void {
  check('mount', native.mount(source, target, 'none', MS_BIND | MS_REC, null) as Result);
}

/**
 * Says whether mounts below this one, and their end, appear in other mount namespaces and other copies of it.
 * @throws SystemError `EINVAL` when it is no mount point
 */
export function setPropagation(target: string, propagation: 'shared' | 'private'): void {
  const flag = propagation === 'shared' ? MS_SHARED : MS_PRIVATE;
  check('mount', native.mount('none', target, null, flag | MS_REC, null) as Result);
}

export interface TmpfsOptions {
  readonly sizeBytes?: number | bigint;
  readonly mode?: number;
  /** No programs, devices or set-user-id files in it. */
  readonly forData?: boolean;
}

/**
 * Mounts a tmpfs: memory, bounded by `sizeBytes` (by half of the machine's when absent). `mode` is that of its root.
 * The directory must exist.
 */
export function mountTmpfs(
  target: string,
  { sizeBytes, mode = 0o755, forData = false }: TmpfsOptions = {},
): void {
  const size = sizeBytes === undefined ? [] : [`size=${sizeBytes}`];
  const options = [`mode=${mode.toString(8)}`, ...size].join(',');
  check('mount', native.mount('tmpfs', target, 'tmpfs', forData ? MS_DATA_ONLY : 0n, options) as Result);
}

/** Unmounts; a last symbolic link is not followed. @throws SystemError `EBUSY` in use, `EINVAL` no mount point */
export function unmount(target: string): void {
  check('umount2', native.umount2(target, UMOUNT_NOFOLLOW) as Result);
}

/** Unmounts lazily (MNT_DETACH): a busy namespace file goes when its last user does. */
export function unmountLazily(target: string): void {
  check('umount2', native.umount2(target, MNT_DETACH) as Result);
}

/** The magic number of the file system that `fd` lies on (statfs.f_type). */
export function fileSystemType(fd: number): number {
  check('fstatfs', native.fstatfs(fd, statfs) as Result);
  return statfs.readUInt32LE(0);
}

/** struct statfs, which starts with f_type; calls are synchronous, so one is enough. */
const statfs = Buffer.alloc(256);

/**
 * Locks an open file for this process (flock(2), exclusive, without waiting). The kernel releases it with the last copy of
 * the descriptor, so also when the process is killed. @throws SystemError `EAGAIN` when another process has it
 */
export function lockFile(fd: number): void {
  check('flock', native.flock(fd, LOCK_EX | LOCK_NB) as Result);
}

const LOCK_EX = 2;
const LOCK_NB = 4;

/** The kind of a namespace file, as the CLONE_NEW* flag that makes one (ioctl_ns(2)). */
export function namespaceKind(fd: number): number {
  return check('ioctl', native.ioctl(fd, NS_GET_NSTYPE, 0) as Result);
}

/**
 * A descriptor of the network namespace that a socket belongs to (SIOCGSKNS), for the caller to close. Needs CAP_NET_ADMIN.
 */
export function openSocketNamespace(fd: number): number {
  return check('ioctl', native.ioctl(fd, SIOCGSKNS, 0) as Result);
}

/** An ioctl that reads or writes a structure. */
export function ioctlBuffer(fd: number, request: number, structure: Uint8Array): void {
  check('ioctl', native.ioctlBuffer(fd, request, structure) as Result);
}

/**
 * Has the driver of a link carry out a command of ethtool (netdevice(7)). The answer, if there is one, is written into
 * `command`, which must not move: `Buffer.allocUnsafeSlow`.
 */
export function ethtool(fd: number, link: string, command: Uint8Array): void {
  interfaceRequest.fill(0);
  interfaceRequest.write(link, 0, IFNAMSIZ - 1, 'latin1');
  interfaceRequest.writeBigUInt64LE(koffi.address(command), IFNAMSIZ);
  ioctlBuffer(fd, SIOCETHTOOL, interfaceRequest);
}

const IFNAMSIZ = 16;
/** struct ifreq of 64-bit Linux; calls are synchronous, so one is enough. */
const interfaceRequest = Buffer.alloc(40);

const SIOCETHTOOL = 0x8946;
const NS_GET_NSTYPE = 0xb703;
const SIOCGSKNS = 0x894c;
/** MS_NOSUID, MS_NODEV, MS_NOEXEC. */
const MS_DATA_ONLY = 2n | 4n | 8n;
const MS_BIND = 4096n;
const MS_REC = 0x4000n;
const MS_PRIVATE = 0x40000n;
const MS_SHARED = 0x100000n;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;
