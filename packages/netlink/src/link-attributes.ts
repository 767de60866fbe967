/** Numbers of links (include/uapi/linux/if_link.h, rtnetlink.h, if.h). */

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_SETLINK = 19;

/** struct ifinfomsg: family, type (u16 at 2), index (i32 at 4), flags (u32 at 8), change mask (u32 at 12). */
export const IFINFOMSG = 16;

export const IFF_UP = 0x1;
export const IFF_RUNNING = 0x40;
export const IFF_LOWER_UP = 0x10000;

export const IFLA_ADDRESS = 1;
export const IFLA_IFNAME = 3;
export const IFLA_MTU = 4;
export const IFLA_LINK = 5;
export const IFLA_QDISC = 6;
export const IFLA_MASTER = 10;
export const IFLA_TXQLEN = 13;
export const IFLA_OPERSTATE = 16;
export const IFLA_LINKINFO = 18;
export const IFLA_IFALIAS = 20;
export const IFLA_STATS64 = 23;
export const IFLA_AF_SPEC = 26;
export const IFLA_GROUP = 27;
export const IFLA_NET_NS_FD = 28;
export const IFLA_EXT_MASK = 29;
export const IFLA_NUM_TX_QUEUES = 31;
export const IFLA_NUM_RX_QUEUES = 32;
export const IFLA_CARRIER_CHANGES = 35;
export const IFLA_LINK_NETNSID = 37;
export const IFLA_PROP_LIST = 52;
export const IFLA_ALT_IFNAME = 53;

export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;

export const VETH_INFO_PEER = 1;

export const IFLA_INET_CONF = 1;
export const IFLA_INET6_ADDR_GEN_MODE = 8;

/** Leave counters out of the answer: half of its bytes. */
export const RTEXT_FILTER_SKIP_STATS = 1 << 3;
