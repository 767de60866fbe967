/** Numbers of traffic control (include/uapi/linux/pkt_sched.h, pkt_cls.h, rtnetlink.h). */

export const RTM_NEWQDISC = 36;
export const RTM_DELQDISC = 37;
export const RTM_GETQDISC = 38;
export const RTM_NEWTCLASS = 40;
export const RTM_DELTCLASS = 41;
export const RTM_GETTCLASS = 42;
export const RTM_NEWTFILTER = 44;
export const RTM_DELTFILTER = 45;
export const RTM_GETTFILTER = 46;

/** struct tcmsg: family (u8), index (i32 at 4), handle (u32 at 8), parent (u32 at 12), info (u32 at 16). */
export const TCMSG = 20;

export const TCA_KIND = 1;
export const TCA_OPTIONS = 2;
export const TCA_STATS2 = 7;

export const TCA_STATS_BASIC = 1;
export const TCA_STATS_QUEUE = 3;

/** The place of a link's outermost qdisc. */
export const TC_ROOT = 0xffffffff;
/** The place of the ingress and clsact qdiscs. */
export const TC_INGRESS = 0xfffffff1;
/** Filters hang on the ingress qdisc at its handle, ffff:. */
export const INGRESS_FILTERS = 0xffff0000;
/** Filters hang on clsact at one of these. */
export const CLSACT_INGRESS_FILTERS = 0xfffffff2;
export const CLSACT_EGRESS_FILTERS = 0xfffffff3;

/** A handle as tc(8) writes it, MAJOR:MINOR in hexadecimal. */
export const tcHandle = (major: number, minor = 0): number => ((major << 16) | minor) >>> 0;
