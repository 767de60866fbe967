/** The addresses and the MAC of one pod, out of what is free in its subnet. */
import type { FreeAddresses } from '../allocation/free-addresses.js';
import type { Allocation, SubnetAddresses } from '../allocation/subnet-addresses.js';
import { conflict, noAddress, noPoolAddress } from '../problems.js';
import { annotationNames, readList } from './annotations.js';
import type { PodObject } from './contract.js';
import { ordinalOf } from './owners.js';

/** The owner of addresses, and where they come from. */
export interface Place {
  readonly owner: string;
  readonly subnet: SubnetAddresses;
  readonly isUnusable: (address: string) => boolean;
}

/** @throws PodwireError OVN_EXHAUSTED */
export function chooseNext(place: Place): Allocation {
  const addresses = place.subnet.ranges.map((range) => findNext(place, range));
  return { addresses, mac: place.subnet.findMac(addresses) };
}

/**
 * Addresses that the pod asks for by name, or one of its pool, or the next ones. Of a family that it does not ask for it gets the next one.
 * @throws PodwireError OVN_CONFLICT, OVN_EXHAUSTED
 */
export function chooseAddresses(pod: PodObject, place: Place): Allocation {
  const { subnet } = place;
  const named = readList(pod.annotations[annotationNames.addresses]);
  const wanted = named.length > 0 ? named : chooseFromPool(pod, place);
  for (const address of wanted) requireFree(place, address);
  const addresses = subnet.ranges.map(
    (range) => wanted.find((address) => range.contains(address)) ?? findNext(place, range),
  );
  return { addresses, mac: readMac(pod, place) ?? subnet.findMac(addresses) };
}

export const asksForAddresses = ({ annotations }: PodObject): boolean =>
  annotations[annotationNames.addresses] !== undefined || annotations[annotationNames.pool] !== undefined;

/** True for a pod that leaves less choice: it comes before those that take what is next. */
export const asksByName = (pod: PodObject): boolean =>
  asksForAddresses(pod) || pod.annotations[annotationNames.mac] !== undefined;

function requireFree({ owner, subnet }: Place, address: string): void {
  if (!subnet.ranges.some((range) => range.offers(address)))
    throw conflict(
      `${owner}: no pod of subnet ${subnet.name} (${cidrsOf(subnet).join(', ')}) can have ${address}`,
    );
  const other = subnet.ownerOf(address);
  if (other !== undefined && other !== owner) throw conflict(`${owner}: ${address} belongs to ${other}`);
}

function findNext({ owner, subnet, isUnusable }: Place, range: FreeAddresses): string {
  const found = subnet.findNext(range, isUnusable);
  if (found === undefined) throw noAddress(owner, subnet.name, range.cidr);
  return found;
}

const cidrsOf = ({ ranges }: SubnetAddresses): string[] => ranges.map(({ cidr }) => cidr);

/** Of a stateful set the entry of the pod's number; of others the first that is free. */
function chooseFromPool(pod: PodObject, { owner, subnet }: Place): readonly string[] {
  const text = pod.annotations[annotationNames.pool];
  if (text === undefined) return [];
  const entries = readPool(text);
  const ordinal = pod.statefulSet === undefined ? undefined : ordinalOf(pod.name);
  const isFree = (address: string): boolean => subnet.ownerOf(address) === undefined;
  const found = ordinal === undefined ? entries.find((entry) => entry.every(isFree)) : entries[ordinal];
  if (found === undefined) throw noPoolAddress(owner, text);
  return found;
}

/** `10.16.0.5,10.16.0.6`; with addresses of two families `10.16.0.5,fd00::5;10.16.0.6,fd00::6`. */
const readPool = (text: string): string[][] =>
  text.includes(';') ? text.split(';').map(readList) : readList(text).map((address) => [address]);

function readMac(pod: PodObject, { owner, subnet }: Place): string | undefined {
  const mac = pod.annotations[annotationNames.mac]?.toLowerCase();
  if (mac === undefined) return undefined;
  if (!/^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/.test(mac))
    throw conflict(`${owner}: ${annotationNames.mac}: ${mac} is no MAC of one interface`);
  const other = subnet.ownerOf(mac);
  if (other !== undefined && other !== owner) throw conflict(`${owner}: ${mac} belongs to ${other}`);
  return mac;
}
