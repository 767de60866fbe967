/** The packet that is followed through the logical network, in OVN's language of expressions. Pure. */
import { formatAddress, tryParseAddress } from '@podwire/addresses';
import type { LogicalPlaces, LogicalPort } from '@podwire/controller';
import { PodwireError } from '@podwire/errors';
import { isPodName } from '../packet/names.js';

export interface LogicalQuestion {
  readonly from: LogicalPort & { readonly address: string };
  readonly to: LogicalEnd;
  readonly protocol: 'tcp' | 'udp' | 'icmp';
  /** Of the receiver; absent for ICMP. */
  readonly port?: number;
}

/** A port of the logical network, or an address that none of these has. */
export interface LogicalEnd extends Partial<LogicalPort> {
  readonly address: string;
}

export interface Microflow {
  /** The logical switch that the packet comes to first. */
  readonly datapath: string;
  /** ovn-trace(8) */
  readonly expression: string;
}

export const isEnd = (text: string): boolean => readAddress(text) !== undefined || isPodName(text);

/** As OVN writes it; undefined for what is no address. OVN has no addresses with zones. */
function readAddress(text: string): string | undefined {
  const address = tryParseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
}

/**
 * @param from a pod, by name or address
 * @param to a pod, or any address
 * @throws PodwireError POD_UNKNOWN; REQUEST_INVALID where the two have no family of addresses in common
 */
export function findEnds(
  from: string,
  to: string,
  places: LogicalPlaces,
): Pick<LogicalQuestion, 'from' | 'to'> {
  const [sender, receiver] = [findPort(from, places), findPort(to, places)];
  const senders = listAddresses(from, sender);
  const receivers = listAddresses(to, receiver);
  const [source, target] = pickFamily(senders, receivers) ?? refuseFamilies(from, to);
  return {
    from: { ...(sender ?? refuseUnknown(from)), address: source },
    to: { ...receiver, address: target },
  };
}

function findPort(text: string, { ports }: LogicalPlaces): LogicalPort | undefined {
  const address = readAddress(text);
  if (address !== undefined) return ports.find(({ addresses }) => addresses.includes(address));
  const bare = text.replace(/^pod\//, '');
  const name = bare.includes('/') ? bare : `default/${bare}`;
  return ports.find(({ pod }) => pod === name);
}

/** One that is asked for by its address is asked for with no other. */
function listAddresses(text: string, port: LogicalPort | undefined): readonly string[] {
  const address = readAddress(text);
  return address === undefined ? (port ?? refuseUnknown(text)).addresses : [address];
}

function refuseUnknown(text: string): never {
  throw new PodwireError('POD_UNKNOWN', `the logical network has no pod ${text}`, {
    action: 'Look for it with `podwire ovn show`. Give its namespace with it, as NAMESPACE/NAME.',
  });
}

function refuseFamilies(from: string, to: string): never {
  throw new PodwireError('REQUEST_INVALID', `${from} and ${to} have no family of addresses in common`);
}

const protocolOf = (address: string): 'ip4' | 'ip6' => (address.includes(':') ? 'ip6' : 'ip4');

/** IPv4, where both have it. */
function pickFamily(senders: readonly string[], receivers: readonly string[]): [string, string] | undefined {
  for (const ip of ['ip4', 'ip6']) {
    const isOfFamily = (address: string): boolean => protocolOf(address) === ip;
    const [source, target] = [senders.find(isOfFamily), receivers.find(isOfFamily)];
    if (source !== undefined && target !== undefined) return [source, target];
  }
  return undefined;
}

/** @throws PodwireError REQUEST_INVALID where the MAC that the sender would use is not known */
export function buildMicroflow(question: LogicalQuestion, { switches }: LogicalPlaces): Microflow {
  const { from, to } = question;
  const isNear = to.switch === from.switch;
  const mac = isNear ? to.mac : switches.find(({ name }) => name === from.switch)?.gatewayMac;
  if (mac === undefined)
    throw new PodwireError('REQUEST_INVALID', `the gateway of subnet ${from.switch} is outside of OVN`, {
      action: 'Ask for a pod of the same subnet: the MAC of a gateway outside is not known here.',
    });
  const ip = protocolOf(from.address);
  const terms = [
    ...[`inport == ${JSON.stringify(from.name)}`, `eth.src == ${from.mac}`, `eth.dst == ${mac}`],
    ...[`${ip}.src == ${from.address}`, `${ip}.dst == ${to.address}`, 'ip.ttl == 64'],
    ...describeProtocol(question, ip),
  ];
  return { datapath: from.switch, expression: terms.join(' && ') };
}

/** Senders have a port as systems choose it for a connection. */
function describeProtocol({ protocol, port }: LogicalQuestion, ip: 'ip4' | 'ip6'): string[] {
  if (protocol !== 'icmp') return [`${protocol}.src == 50000`, `${protocol}.dst == ${port}`];
  const [name, type] = ip === 'ip4' ? ['icmp4', 8] : ['icmp6', 128];
  return [`${name}.type == ${type}`, `${name}.code == 0`];
}
