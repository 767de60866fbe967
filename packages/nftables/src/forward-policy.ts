import type { NetlinkConnection } from '@podwire/netlink';
import { decodeChain, decodeRule } from './decode.js';
import { translating } from './errors.js';
import { NFT_MSG_GETCHAIN, NFT_MSG_GETRULE } from './protocol.js';
import { plainRequest } from './request.js';

/** The chain on the forward hook that iptables keeps in nftables (`iptables-nft`). */
export const iptablesForward = { table: 'filter', chain: 'FORWARD' } as const;

export interface ForwardPolicy {
  /** True if packets that no rule decides are dropped. */
  readonly drops: boolean;
  /** Handles of the rules in it that lead to the chain asked for. */
  readonly jumps: readonly bigint[];
}

const NF_INET_FORWARD = 2;
const NF_DROP = 0;

/** `undefined` where iptables has no such chain in this namespace: it was not used yet. */
export function readForwardPolicy(
  connection: NetlinkConnection,
  family: 'ip' | 'ip6',
  target: string,
): ForwardPolicy | undefined {
  const { table, chain } = iptablesForward;
  const dump = (type: number) =>
    translating(`list table ${family} ${table}`, () => connection.dump(plainRequest(type, family, table)));
  const found = dump(NFT_MSG_GETCHAIN)
    .map(decodeChain)
    .find((one) => one.table === table && one.name === chain && one.hook?.number === NF_INET_FORWARD);
  if (found?.hook === undefined) return undefined;
  // A verdict names its chain as text that ends with a zero; nothing else in a rule of FORWARD is called so.
  const name = Buffer.from(`${target}\0`);
  const jumps = dump(NFT_MSG_GETRULE)
    .filter(({ payload }) => Buffer.from(payload).includes(name))
    .map(decodeRule)
    .filter((rule) => rule.chain === chain)
    .map(({ handle }) => handle);
  return { drops: found.hook.policy === NF_DROP, jumps };
}
