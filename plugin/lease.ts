/** The addresses that a node of Kube-OVN gives a pod, and the CNI result that the original makes of it. As lease.c. */
import { type Json, wellFormed } from './json.js';

const { isIPv4, isIPv6 } = process.getBuiltinModule('node:net');

/** For one of the texts, in bytes and with one more at its end. */
const TEXT_ROOM = 128;

interface Family {
  readonly version: '4' | '6';
  readonly key: 'ip4' | 'ip6';
  readonly everywhere: string;
  readonly longest: number;
  readonly isAddress: (text: string) => boolean;
}

const IPV4: Family = {
  ...{ version: '4', key: 'ip4', everywhere: '0.0.0.0/0', longest: 32 },
  isAddress: isIPv4,
};
const IPV6: Family = {
  ...{ version: '6', key: 'ip6', everywhere: '::/0', longest: 128 },
  isAddress: (text) => isIPv6(text) && !text.includes('%'),
};

/** In the order of a result: IPv4 before IPv6. */
const FAMILIES: ReadonlyMap<string, readonly Family[]> = new Map([
  ['IPv4', [IPV4]],
  ['IPv6', [IPV6]],
  ['Dual', [IPV4, IPV6]],
]);

interface Address {
  readonly family: Family;
  /** With its prefix length. */
  readonly text: string;
  /** Empty: there is none. */
  readonly gateway: string;
}

export interface Lease {
  readonly addresses: readonly Address[];
  readonly interface: string;
  readonly mac: string;
}

// ---- reading

/** Is thrown with what is wrong with a response. */
export class LeaseFault extends Error {}

function takeText(response: Json, name: string, fault: string): string {
  const text = response[name] ?? '';
  if (typeof text !== 'string') throw new LeaseFault(fault);
  const fits = Buffer.byteLength(text) < TEXT_ROOM && !text.includes('\0');
  if (!fits) throw new LeaseFault(fault);
  return wellFormed(text);
}

/** A list of one text for each family. */
function takeList(
  response: Json,
  name: string,
  what: string,
  families: readonly Family[],
): readonly string[] {
  const fault = faultOf(name, what);
  const items = takeText(response, name, fault).split(',');
  if (items.length !== families.length) throw new LeaseFault(fault);
  return items;
}

const faultOf = (name: string, what: string): string => `\`${name}\` is not one ${what} of each family`;

/** The prefix length of a network. */
function prefixOf(cidr: string, { longest, isAddress }: Family): string | undefined {
  const at = cidr.indexOf('/');
  const prefix = cidr.slice(at + 1);
  const isPrefix = at >= 0 && /^(?:0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= longest;
  return isPrefix && isAddress(cidr.slice(0, at)) ? prefix : undefined;
}

function toAddress(family: Family, ip = '', cidr = '', gateway = ''): Address {
  const prefix = prefixOf(cidr, family);
  if (!family.isAddress(ip)) throw new LeaseFault(faultOf('address', 'address'));
  if (prefix === undefined) throw new LeaseFault(faultOf('cidr', 'network'));
  if (gateway !== '' && !family.isAddress(gateway)) throw new LeaseFault(faultOf('gateway', 'address'));
  return { family, text: `${ip}/${prefix}`, gateway };
}

/** @throws LeaseFault */
export function readLease(response: Json): Lease {
  const fault = '`protocol` is none of IPv4, IPv6 and Dual';
  const families = FAMILIES.get(takeText(response, 'protocol', fault));
  if (families === undefined) throw new LeaseFault(fault);
  const texts = takeTexts(response);
  const ips = takeList(response, 'address', 'address', families);
  const cidrs = takeList(response, 'cidr', 'network', families);
  const gateways = texts.gateway === '' ? [] : takeList(response, 'gateway', 'address', families);
  const addresses = families.map((family, index) =>
    toAddress(family, ips[index], cidrs[index], gateways[index]),
  );
  return { addresses, interface: texts.interface, mac: texts.mac };
}

/** Each text is looked at before the first list is, as lease.c does it: of several faults both name the same one. */
function takeTexts(response: Json): { gateway: string; interface: string; mac: string } {
  takeText(response, 'address', faultOf('address', 'address'));
  takeText(response, 'cidr', faultOf('cidr', 'network'));
  return {
    gateway: takeText(response, 'gateway', faultOf('gateway', 'address')),
    interface: takeText(response, 'nicname', '`nicname` is no short string'),
    mac: takeText(response, 'mac_address', '`mac_address` is no short string'),
  };
}

// ---- the result

/** The result under the version of a configuration. */
export const toResult = (lease: Lease, version: string): object =>
  version < '0.3.0' ? toLegacy(lease) : toCurrent(lease, version);

const present = (key: string, value: string): object => (value === '' ? {} : { [key]: value });

const routeOf = ({ family, gateway }: Address): object => ({ dst: family.everywhere, gw: gateway });

/** The form below 0.3.0, in which each address has its own routes. The original has none of 0.1.0, and says so. */
function toLegacy({ addresses }: Lease): object {
  const entries = addresses.map((address) => {
    const { family, text: ip, gateway } = address;
    const routes = gateway === '' ? {} : { routes: [routeOf(address)] };
    return [family.key, { ip, ...present('gateway', gateway), ...routes }] as const;
  });
  return { cniVersion: '0.2.0', ...(Object.fromEntries(entries) as object), dns: {} };
}

function toCurrent({ addresses, interface: name, mac }: Lease, cniVersion: string): object {
  const routes = addresses.filter(({ gateway }) => gateway !== '').map(routeOf);
  const ips = addresses.map(({ family, text, gateway }) => ({
    ...{ version: family.version, address: text },
    ...present('gateway', gateway),
  }));
  const interfaces = [{ name, ...present('mac', mac) }];
  return { cniVersion, interfaces, ips, ...(routes.length === 0 ? {} : { routes }), dns: {} };
}
