/** Processor time of carrying packets, in seconds: quieter than a rate on a machine that does other things too. */
import fs from 'node:fs';
import { processorTime } from './process-cost.js';

/** How programs are started whose work is compared: on one processor, since where the scheduler puts them would decide otherwise. */
export const placed = ['nice', '-n', '-20', 'taskset', '-c', '0'] as const;

/** Processor time of the kernel's threads for packets. Packets that a sender carries are on its own account. */
export const readThreads = (): number =>
  packetThreads.reduce((total, pid) => total + processorTime(Number(pid)), 0) / 1e3;

function isPacketThread(pid: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('ksoftirqd');
  } catch {
    return false; // it has ended
  }
}

const packetThreads = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isPacketThread(name));

/** @param output of `probe pour` @returns seconds that sender and receiver have computed */
export const readPoured = (output: string): number => Number(output.trim().split(' ')[2]) / 1e9;
