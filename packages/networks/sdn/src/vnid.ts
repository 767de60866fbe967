/** Virtual network ids, which name projects in tunnels: NetNamespace.netid. RFC 7348 §5 gives them 24 bits. */

/** That of the project `default`: every project reaches it and is reached by it. */
export const GLOBAL_VNID = 0;

export const LAST_VNID = 0xff_ffff;

/** True for a number that a tunnel can carry. */
export const isVnid = (vnid: number): boolean => Number.isInteger(vnid) && vnid >= 0 && vnid <= LAST_VNID;
