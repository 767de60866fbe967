/** Numbers of nf_tables (include/uapi/linux/netfilter/{nfnetlink,nf_tables}.h); all integers are big-endian. */

const NFNL_SUBSYS_NFTABLES = 10;
const message = (number: number): number => (NFNL_SUBSYS_NFTABLES << 8) | number;

export const NFNL_MSG_BATCH_BEGIN = 16;
export const NFNL_MSG_BATCH_END = 17;
/** struct nfgenmsg: family, version, resource id. */
export const NFGENMSG = 4;

export const NFT_MSG_NEWTABLE = message(0);
export const NFT_MSG_GETTABLE = message(1);
export const NFT_MSG_DELTABLE = message(2);
export const NFT_MSG_NEWCHAIN = message(3);
export const NFT_MSG_GETCHAIN = message(4);
export const NFT_MSG_DELCHAIN = message(5);
export const NFT_MSG_NEWRULE = message(6);
export const NFT_MSG_GETRULE = message(7);
export const NFT_MSG_DELRULE = message(8);
export const NFT_MSG_NEWSET = message(9);
export const NFT_MSG_GETSET = message(10);
export const NFT_MSG_DELSET = message(11);
export const NFT_MSG_NEWSETELEM = message(12);
export const NFT_MSG_GETSETELEM = message(13);
export const NFT_MSG_DELSETELEM = message(14);
export const NFT_MSG_GETGEN = message(16);
export const NFT_MSG_GETOBJ = message(19);
/** Deletes what may be absent; since Linux 6.3. */
export const NFT_MSG_DESTROYSETELEM = message(30);

export const tableAttribute = { name: 1, flags: 2, use: 3, handle: 4 } as const;
export const chainAttribute = { table: 1, handle: 2, name: 3, hook: 4, policy: 5, type: 7 } as const;
export const hookAttribute = { number: 1, priority: 2 } as const;
export const ruleAttribute = { table: 1, chain: 2, handle: 3, expressions: 4, userdata: 7 } as const;
export const expressionAttribute = { name: 1, data: 2 } as const;
export const objectAttribute = { table: 1, name: 2, type: 3 } as const;
export const setAttribute = {
  table: 1,
  name: 2,
  flags: 3,
  keyType: 4,
  keyLength: 5,
  dataType: 6,
  dataLength: 7,
  id: 10,
  userdata: 13,
  handle: 16,
} as const;
/** Attributes of a message about elements, NFTA_SET_ELEM_LIST_*. */
export const elementListAttribute = { table: 1, set: 2, elements: 3 } as const;
/** NFTA_LIST_ELEM */
export const LIST_ITEM = 1;
export const elementAttribute = { key: 1, data: 2, flags: 3, userdata: 6, keyEnd: 10 } as const;
export const dataAttribute = { value: 1, verdict: 2 } as const;
export const verdictAttribute = { code: 1, chain: 2 } as const;
export const generationAttribute = { id: 1 } as const;

export const NFT_SET_ANONYMOUS = 0x1;
export const NFT_SET_INTERVAL = 0x4;
export const NFT_SET_MAP = 0x8;
/** A map from keys to stateful objects. */
export const NFT_SET_OBJECT = 0x40;
export const NFT_SET_ELEM_INTERVAL_END = 0x1;
export const NFT_SET_ELEM_CATCHALL = 0x2;
/** The data type number that means a verdict. */
export const NFT_DATA_VERDICT = 0xffffff00;

/** Numbers of the families (enum nfproto), also as they are read back when a table is taken apart. */
export const families = { inet: 1, ip: 2, arp: 3, netdev: 5, bridge: 7, ip6: 10 } as const;

export type Family = keyof typeof families;

const familyNames = new Map<number, Family>(
  Object.entries(families).map(([name, number]) => [number, name as Family]),
);

export function familyName(number: number): Family | undefined {
  return familyNames.get(number);
}
