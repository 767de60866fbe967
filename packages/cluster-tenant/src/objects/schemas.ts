/** Objects of Contiv's API, as they are asked for and stored. Rules that need other objects are in `plan/`. */
import { containsAddress, parseAddress } from '@podwire/addresses';
import { z } from 'zod';
import { hostOf, isLastAddress, parsePrivateSubnet, parseSubnet, parseSubnet6 } from './subnet.js';
import { highestVlan, highestVni, parseTagRange, vlanLimits, vxlanLimits } from './tag-range.js';
import { ipv4, ipv6, name, names, numberUpTo, tag, textOf } from './text.js';

type Read = (text: string) => unknown;

/** Text that `read` takes; what it throws is said of the field. */
const readable = (read: Read): z.ZodType<string> =>
  z.string().superRefine((text, context) => {
    const message = failureOf(() => read(text));
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

function failureOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const succeeds = (work: () => unknown): boolean => failureOf(work) === undefined;

export const tenantSchema = z.strictObject({ tenantName: name, defaultNetwork: name.optional() });

export const networkSchema = z
  .strictObject({
    tenantName: name,
    networkName: name,
    nwType: z.enum(['infra', 'data']).default('data'),
    encap: z.enum(['vlan', 'vxlan']),
    /** The VLAN or VNI that is asked for. */
    pktTag: numberUpTo(highestVni).optional(),
    subnet: readable(parseSubnet),
    gateway: ipv4.optional(),
    ipv6Subnet: readable(parseSubnet6).optional(),
    ipv6Gateway: ipv6.optional(),
    cfgdTag: tag.optional(),
  })
  .superRefine((network, context) => {
    for (const [field, message] of networkFaults(network))
      context.addIssue({ code: 'custom', path: [field], message });
  });

interface NetworkFields {
  readonly encap: string;
  readonly pktTag?: number | undefined;
  readonly subnet: string;
  readonly gateway?: string | undefined;
  readonly ipv6Subnet?: string | undefined;
  readonly ipv6Gateway?: string | undefined;
}

function* networkFaults(network: NetworkFields): Generator<readonly [string, string]> {
  const { encap, pktTag = 0, subnet, gateway, ipv6Subnet, ipv6Gateway } = network;
  if (encap === 'vlan' && pktTag > highestVlan)
    yield ['pktTag', `must be a VLAN of at most ${highestVlan} with the encap vlan`];
  if (gateway !== undefined && succeeds(() => parseSubnet(subnet)) && !isHost(gateway, subnet))
    yield ['gateway', `must be an address of ${subnet}, and neither its first nor its last`];
  if (ipv6Gateway === undefined) return;
  if (ipv6Subnet === undefined) yield ['ipv6Gateway', 'must not stand without an ipv6Subnet'];
  else if (succeeds(() => parseSubnet6(ipv6Subnet)) && !isHost6(ipv6Gateway, ipv6Subnet))
    yield ['ipv6Gateway', `must be an address of ${ipv6Subnet}, and not its first`];
}

function isHost(address: string, text: string): boolean {
  const subnet = parseSubnet(text);
  const host = hostOf(subnet, parseAddress(address));
  return host !== undefined && host > 0 && !isLastAddress(subnet.prefix, parseAddress(address));
}

function isHost6(address: string, text: string): boolean {
  const prefix = parseSubnet6(text);
  const { value } = parseAddress(address);
  return containsAddress(prefix, parseAddress(address)) && value !== prefix.address.value;
}

export const groupSchema = z.strictObject({
  tenantName: name,
  groupName: name,
  networkName: name,
  /** `10.1.1.10-10.1.1.20`: addresses of the network that this group alone has. */
  ipPool: textOf({
    longest: 31,
    shape: /^[0-9.]+-[0-9.]+$/,
    words: 'must be a range of IPv4 addresses, 10.1.1.10-10.1.1.20',
  }).optional(),
  policies: names.default([]),
  extContractsGrps: z.array(z.never({ error: 'external contracts are not there yet' })).optional(),
  netProfile: name.optional(),
  cfgdTag: tag.optional(),
});

export const policySchema = z.strictObject({ tenantName: name, policyName: name });

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** `10.1.1.1`, a part of a subnet, `10.1.1.1-9`, or with a length. */
const peers = textOf({
  longest: 22,
  shape: new RegExp(`^${octet}(?:\\.${octet}){3}(?:-${octet})?(?:/(?:3[0-2]|[12]\\d|[1-9]))?$`),
  words:
    'must be an IPv4 address, 10.1.1.1, a range of the last number, 10.1.1.1-9, or a subnet, 10.1.1.0/24',
});

const protocol = z
  .string()
  .refine((text) => /^(?:tcp|udp|icmp|\d{1,3})$/.test(text) && !(Number(text) > 255), {
    error: 'must be tcp, udp, icmp or a number up to 255',
  });

export const ruleSchema = z
  .strictObject({
    tenantName: name,
    policyName: name,
    ruleId: name,
    direction: z.enum(['in', 'out']),
    action: z.enum(['allow', 'deny']),
    priority: z
      .number()
      .refine((value) => Number.isInteger(value) && value >= 1 && value <= 100, {
        error: 'must be a whole number from 1 to 100',
      })
      .default(1),
    protocol: protocol.optional(),
    port: numberUpTo(65_535).optional(),
    fromEndpointGroup: name.optional(),
    fromNetwork: name.optional(),
    fromIpAddress: peers.optional(),
    toEndpointGroup: name.optional(),
    toNetwork: name.optional(),
    toIpAddress: peers.optional(),
  })
  .superRefine((rule, context) => {
    for (const [field, message] of ruleFaults(rule))
      context.addIssue({ code: 'custom', path: [field], message });
  });

type PeerField = `${'from' | 'to'}${'EndpointGroup' | 'Network' | 'IpAddress'}`;
type PeerFields = { readonly [F in PeerField]?: string | undefined } & { readonly direction: string };

function* ruleFaults(rule: PeerFields): Generator<readonly [string, string]> {
  const [near, far] = rule.direction === 'in' ? (['to', 'from'] as const) : (['from', 'to'] as const);
  // An incoming rule may name the address of an endpoint that it is for.
  const refused = (['EndpointGroup', 'Network', 'IpAddress'] as const).filter(
    (kind) => !(near === 'to' && kind === 'IpAddress') && rule[`${near}${kind}`] !== undefined,
  );
  for (const kind of refused)
    yield [`${near}${kind}`, `must not stand in a rule of the direction ${rule.direction}`];
  if (rule[`${far}Network`] === undefined) return;
  for (const kind of ['EndpointGroup', 'IpAddress'] as const)
    if (rule[`${far}${kind}`] !== undefined) yield [`${far}${kind}`, `must not stand beside ${far}Network`];
}

export const netprofileSchema = z.strictObject({
  tenantName: name,
  profileName: name,
  bandwidth: textOf({
    longest: 64,
    shape: /^[1-9]\d{0,9} ?[kmg](?:bps|b)?$/i,
    words: 'must be a rate with its unit, 10 mbps',
  }).optional(),
  DSCP: numberUpTo(63).default(0),
  /** KB. A burst of 1 is less than one packet. */
  burst: numberUpTo(10_486)
    .refine((value) => value !== 1, { error: 'must be 0, or at least 2: 1 KB holds no packet' })
    .default(0),
});

export const appProfileSchema = z.strictObject({
  tenantName: name,
  appProfileName: name,
  endpointGroups: names.default([]),
});

/** Fields that are not given stay as they are. */
export const globalSchema = z.strictObject({
  name: z.literal('global', { error: 'must be global' }).optional(),
  networkInfraType: z.literal('default', { error: 'must be default: ACI is not there yet' }).optional(),
  vlans: readable((text) => parseTagRange(text, vlanLimits)).optional(),
  vxlans: readable((text) => parseTagRange(text, vxlanLimits)).optional(),
  fwdMode: z.enum(['bridge', 'routing']).optional(),
  arpMode: z.enum(['proxy', 'flood']).optional(),
  pvtSubnet: readable(parsePrivateSubnet).optional(),
});
