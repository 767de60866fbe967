/** VNIDs, which name projects in tunnels: VNIs of VXLAN, 24 bits (RFC 7348). */
import { z } from 'zod';

/** Pods of namespaces with it reach all others. */
export const globalVnid = 0;

export const highestVnid = 2 ** 24 - 1;

export const vnid = z.int().min(globalVnid).max(highestVnid);

export const isVnid = (value: unknown): value is number => vnid.safeParse(value).success;
