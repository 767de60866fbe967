/** Numbers of the netlink protocol itself (include/uapi/linux/netlink.h); those of rtnetlink stand beside their objects. */

export const NETLINK_ROUTE = 0;
export const NETLINK_SOCK_DIAG = 4;
export const NETLINK_NETFILTER = 12;

export const NLM_F_REQUEST = 0x01;
export const NLM_F_MULTI = 0x02;
export const NLM_F_ACK = 0x04;
export const NLM_F_ECHO = 0x08;
export const NLM_F_DUMP_INTR = 0x10;
/** GET requests. */
const NLM_F_ROOT = 0x100;
const NLM_F_MATCH = 0x200;
export const NLM_F_DUMP = NLM_F_ROOT | NLM_F_MATCH;
/** NEW requests. */
export const NLM_F_REPLACE = 0x100;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;
export const NLM_F_APPEND = 0x800;
/** Acks. */
export const NLM_F_CAPPED = 0x100;
export const NLM_F_ACK_TLVS = 0x200;

export const NLMSG_NOOP = 1;
export const NLMSG_ERROR = 2;
export const NLMSG_DONE = 3;

export const NLMSG_HDRLEN = 16;

/** Extended ack attributes (enum nlmsgerr_attrs). */
export const NLMSGERR_ATTR_MSG = 1;
export const NLMSGERR_ATTR_OFFS = 2;

/** Everything in netlink is padded to four bytes (NLMSG_ALIGN, NLA_ALIGN). */
export const align = (length: number): number => (length + 3) & ~3;
