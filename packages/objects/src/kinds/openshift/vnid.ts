/** VNIDs, which name projects in tunnels: NetNamespace.netid. VXLAN has 24 bits for them (RFC 7348 §5). */

/** That of the project `default`: pods of namespaces with it reach all others, and are reached by them. */
export const globalVnid = 0;

export const highestVnid = 0xff_ffff;

/** True for a number that a tunnel can carry. */
export const isVnid = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= globalVnid && (value as number) <= highestVnid;
