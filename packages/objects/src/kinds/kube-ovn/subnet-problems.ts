/** Faults of several fields of a Subnet together. Fields that cannot be read say so themselves, and nothing here. */
import {
  type Address,
  addressAt,
  containsAddress,
  formatAddress,
  formatPrefix,
  lastAddress,
  type Prefix,
} from '@podwire/addresses';
import { type AddressRange, mergeRanges, rangeOfAddress, readRange } from './address-ranges.js';
import { formatGatewayNode, readGatewayNode, splitGatewayNodes } from './gateway-nodes.js';
import { mostRanges, type SubnetFields } from './subnet-fields.js';
import { defaultVpc, formatPrefixes, type Problem, readAddresses, readBlock } from './text.js';

const firstAddress = (prefix: Prefix) => addressAt(prefix.address, 1);

/** The address of the router in each prefix; the first one where none is written. */
export const gatewaysOf = ({ gateway }: SubnetFields, prefixes: readonly Prefix[]): readonly Address[] =>
  readAddresses(gateway) ?? prefixes.map(firstAddress);

/** `excludeIps` with the gateways, of texts that are ranges. */
export const excludedRanges = (
  { excludeIps }: SubnetFields,
  gateways: readonly Address[],
): readonly AddressRange[] =>
  mergeRanges([
    ...excludeIps.flatMap((text) => readRange(text).range ?? []),
    ...gateways.map(rangeOfAddress),
  ]);

export const protocolOf = (prefixes: readonly Prefix[]): 'IPv4' | 'IPv6' | 'Dual' =>
  prefixes.length > 1 ? 'Dual' : prefixes[0]?.family === 6 ? 'IPv6' : 'IPv4';

export function* findSubnetProblems(spec: SubnetFields): Generator<Problem> {
  const prefixes = readBlock(spec.cidrBlock)?.prefixes;
  yield* findRoutingProblems(spec);
  yield* findGatewayNodeProblems(spec, prefixes);
  if (prefixes === undefined) return;
  yield* findProtocolProblems(spec, prefixes);
  yield* findGatewayProblems(spec, prefixes);
  yield* findExcludeProblems(spec, prefixes);
  yield* findEgressProblems(spec, prefixes);
}

function* findProtocolProblems(
  { protocol, mtu }: SubnetFields,
  prefixes: readonly Prefix[],
): Generator<Problem> {
  const own = protocolOf(prefixes);
  if (protocol !== undefined && protocol !== own)
    yield [
      ['protocol'],
      `must be ${own}, as cidrBlock ${formatPrefixes(prefixes)} is, or absent; is ${protocol}`,
    ];
  // RFC 8200 §5.
  if (mtu !== undefined && mtu < 1280 && own !== 'IPv4')
    yield [['mtu'], `must be at least 1280 for IPv6, is ${mtu}`];
}

function* findGatewayProblems({ gateway }: SubnetFields, prefixes: readonly Prefix[]): Generator<Problem> {
  const gateways = readAddresses(gateway);
  if (gateways === undefined) return;
  if (familiesOf(gateways) !== familiesOf(prefixes)) {
    const wanted = prefixes.map((prefix) => formatAddress(firstAddress(prefix))).join();
    yield [['gateway'], `must have an address of each prefix of cidrBlock: ${wanted}; is ${gateway}`];
    return;
  }
  for (const [index, prefix] of prefixes.entries()) {
    const own = gateways[index]!;
    const text = formatAddress(own);
    if (!containsAddress(prefix, own)) yield [['gateway'], `${text} does not lie in ${formatPrefix(prefix)}`];
    else if (own.value === prefix.address.value)
      yield [['gateway'], `must not be ${text}, the address of the network ${formatPrefix(prefix)} itself`];
    else if (own.family === 4 && own.value === lastAddress(prefix).value)
      yield [['gateway'], `must not be ${text}, the broadcast address of ${formatPrefix(prefix)}`];
  }
}

const familiesOf = (list: readonly { readonly family: number }[]): string =>
  list.map(({ family }) => family).join();

function* findExcludeProblems(spec: SubnetFields, prefixes: readonly Prefix[]): Generator<Problem> {
  // The list is read again as it was filled in, and must not be too long then.
  if (excludedRanges(spec, gatewaysOf(spec, prefixes)).length > mostRanges)
    yield [['excludeIps'], `must have at most ${mostRanges} ranges, with the gateway`];
  for (const [index, text] of spec.excludeIps.entries()) {
    const { range } = readRange(text);
    if (range === undefined) continue;
    const isInside = prefixes.some((prefix) =>
      [range.first, range.last].every((value) => containsAddress(prefix, { family: range.family, value })),
    );
    if (!isInside) yield [['excludeIps', index], `${text} does not lie in ${formatPrefixes(prefixes)}`];
  }
}

function* findGatewayNodeProblems(
  { gatewayType, gatewayNode }: SubnetFields,
  prefixes: readonly Prefix[] = [],
): Generator<Problem> {
  const at = ['gatewayNode'];
  if (gatewayType === 'distributed') {
    if (gatewayNode !== '') yield [at, 'is only for gatewayType centralized'];
    return;
  }
  if (gatewayNode === '') yield [at, 'is missing for gatewayType centralized: n1,n2 or n1:192.168.1.10'];
  const seen = new Set<string>();
  for (const entry of splitGatewayNodes(gatewayNode)) {
    const message = findEntryFault(entry, prefixes, seen);
    if (message !== undefined) yield [at, message];
    seen.add(entry);
  }
}

function findEntryFault(
  entry: string,
  prefixes: readonly Prefix[],
  seen: ReadonlySet<string>,
): string | undefined {
  const read = readGatewayNode(entry);
  if (read === undefined)
    return `must be made of NODE or NODE:ADDRESS with commas between, has ${JSON.stringify(entry)}`;
  if (seen.has(entry)) return `has ${formatGatewayNode(read)} twice`;
  const { address } = read;
  if (address === undefined || prefixes.length === 0) return undefined;
  const isOfFamily = prefixes.some(({ family }) => family === address.family);
  return isOfFamily
    ? undefined
    : `${formatAddress(address)} is of IPv${address.family}, which cidrBlock does not have`;
}

/** Rules and tables of the node: pods of other VPCs, and of VLANs, do not pass it. */
function* findRoutingProblems(spec: SubnetFields): Generator<Problem> {
  const { externalEgressGateway, natOutgoing, vpc, vlan } = spec;
  const isUsed = externalEgressGateway !== '';
  for (const field of ['policyRoutingPriority', 'policyRoutingTableID'] as const) {
    if (isUsed && spec[field] === undefined) yield [[field], 'is missing beside externalEgressGateway'];
    if (!isUsed && spec[field] !== undefined) yield [[field], 'is only for externalEgressGateway'];
  }
  if (!isUsed) return;
  if (natOutgoing)
    yield [['natOutgoing'], 'must be false with externalEgressGateway, where pods keep their own addresses'];
  if (vpc !== defaultVpc)
    yield [['externalEgressGateway'], `is only for the VPC ${defaultVpc}, not for ${vpc}`];
  if (vlan !== '')
    yield [['externalEgressGateway'], `is only for a subnet without vlan, which is ${vlan} here`];
}

function* findEgressProblems(
  { externalEgressGateway }: SubnetFields,
  prefixes: readonly Prefix[],
): Generator<Problem> {
  for (const address of readAddresses(externalEgressGateway) ?? []) {
    const prefix = prefixes.find(({ family }) => family === address.family);
    const text = formatAddress(address);
    if (prefix === undefined)
      yield [['externalEgressGateway'], `${text} is of IPv${address.family}, which cidrBlock does not have`];
    else if (containsAddress(prefix, address))
      yield [
        ['externalEgressGateway'],
        `must lie outside of the subnet; ${text} is in ${formatPrefix(prefix)}`,
      ];
  }
}
