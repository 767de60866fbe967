/** `gatewayNode` of a Subnet: `n1,n2`, or `n1:192.168.1.10` with the address that packets leave with. */
import { type Address, formatAddress, tryParseAddress } from '@podwire/addresses';
import { subdomainRule } from '@podwire/apimachinery';

export interface GatewayNode {
  readonly node: string;
  /** The source of packets that leave through it; absent: its own address. */
  readonly address?: Address | undefined;
}

/** Undefined for what is no NODE and no NODE:ADDRESS. */
export function readGatewayNode(entry: string): GatewayNode | undefined {
  const colon = entry.indexOf(':');
  const node = colon < 0 ? entry : entry.slice(0, colon);
  if (node === '' || node.length > subdomainRule.longest || !subdomainRule.pattern.test(node))
    return undefined;
  if (colon < 0) return { node };
  const address = tryParseAddress(entry.slice(colon + 1));
  return address === undefined ? undefined : { node, address };
}

/** The entries of the text; none of an empty one. Blanks around them do not count. */
export const splitGatewayNodes = (text: string): readonly string[] =>
  text === '' ? [] : text.split(',').map((entry) => entry.trim());

/**
 * Reads the field, in its order.
 * @throws RangeError naming the entry that is no node
 */
export const parseGatewayNodes = (text: string): readonly GatewayNode[] =>
  splitGatewayNodes(text).map((entry) => {
    const read = readGatewayNode(entry);
    if (read === undefined) throw new RangeError(`${JSON.stringify(entry)} is no NODE or NODE:ADDRESS`);
    return read;
  });

export const formatGatewayNode = ({ node, address }: GatewayNode): string =>
  address === undefined ? node : `${node}:${formatAddress(address)}`;
