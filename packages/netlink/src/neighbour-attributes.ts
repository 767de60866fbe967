/** Numbers of neighbours and forwarding entries (include/uapi/linux/neighbour.h). */

export const RTM_NEWNEIGH = 28;
export const RTM_DELNEIGH = 29;
export const RTM_GETNEIGH = 30;

/** struct ndmsg: family (u8), index (i32 at 4), state (u16 at 8), flags, type (u8 at 10, 11). */
export const NDMSG = 12;

export const NDA_DST = 1;
export const NDA_LLADDR = 2;
export const NDA_VLAN = 5;
export const NDA_PORT = 6;
export const NDA_VNI = 7;
export const NDA_IFINDEX = 8;
export const NDA_MASTER = 9;

export const NTF_USE = 0x01;
export const NTF_SELF = 0x02;
export const NTF_MASTER = 0x04;
export const NTF_PROXY = 0x08;
export const NTF_ROUTER = 0x80;

export const NUD_FAILED = 0x20;
export const NUD_PERMANENT = 0x80;
