/** Numbers of rtnetlink's events (RTM_*, include/uapi/linux/rtnetlink.h). */
export const RTM = {
  ...{ newLink: 16, deleteLink: 17, newAddress: 20, deleteAddress: 21, newRoute: 24, deleteRoute: 25 },
  ...{ newNeighbour: 28, deleteNeighbour: 29, deleteRule: 33, newQdisc: 36, deleteQdisc: 37 },
  ...{ newFilter: 44, deleteFilter: 45, newParameters: 80 },
} as const;

/** ifinfomsg, ifaddrmsg, ndmsg and tcmsg have the index of the link here. */
export const LINK_INDEX = 4;
/** Messages of bridges look like those of links and neighbours, and say less. The family is the first byte. */
export const AF_BRIDGE = 7;
/** The shortest of these. */
export const SHORTEST = 8;
