/** Numbers of OpenFlow 1.4.0 and of Nicira's extensions that more than one file needs. */
export const VERSION = 5;
export const EXPERIMENTER = 0xffff;
/** The number of Nicira among the experimenters. */
export const NICIRA = 0x2320;
/** Every table, group, or port, in requests that select. */
export const ALL_TABLES = 0xff;
export const ANY = 0xffffffff;
/** The kind of list that reports changes of flows. */
export const FLOW_MONITOR = 16;
export const NO_BUFFER = 0xffffffff;
/** The highest number of a group; those above are reserved. */
export const LAST_GROUP = 0xffffff00;

// prettier-ignore
export const actionType = {
  output: 0, pushVlan: 17, popVlan: 18, setQueue: 21, group: 22, decTtl: 24, setField: 25,
} as const;
