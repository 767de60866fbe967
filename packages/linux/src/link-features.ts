import fs from 'node:fs';
import { ethtool, socket } from './libc.js';

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;

/** Features of a link by their names in ethtool(8), with the commands that read and switch them (include/uapi/linux/ethtool.h). */
const commands = { 'tx-checksumming': { get: 0x16, set: 0x17 } } as const;

export type LinkFeatureName = keyof typeof commands;

/**
 * Reads a feature of a link of the calling thread's network namespace, synchronously.
 * @throws SystemError `ENODEV` when there is no such link
 */
export const readLinkFeature = (link: string, feature: LinkFeatureName): boolean =>
  carryOut(link, commands[feature].get, 0) !== 0;

/**
 * Switches it, as `ethtool -K` does. What depends on it goes off with it: segmentation with checksums.
 * @throws SystemError `ENODEV` when there is no such link, `EOPNOTSUPP` when it cannot be switched there
 */
export function switchLinkFeature(link: string, feature: LinkFeatureName, on: boolean): void {
  carryOut(link, commands[feature].set, Number(on));
}

/** @returns the value afterwards */
function carryOut(link: string, command: number, value: number): number {
  const request = Buffer.allocUnsafeSlow(8);
  request.writeUInt32LE(command, 0);
  request.writeUInt32LE(value, 4);
  const fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  try {
    ethtool(fd, link, request);
    return request.readUInt32LE(4);
  } finally {
    fs.closeSync(fd);
  }
}
