/** Which addresses of a network are in use: by its gateway, by endpoints, and by reservations. */
import { parseAddress } from '@podwire/addresses';
import { FreeNumbers } from '@podwire/ipam';
import type { Endpoint, Network, NetworkUse } from './contract.js';
import { hostOf, parseSubnet, parseSubnet6, type Subnet } from './objects/subnet.js';

export class NetworkUsage implements NetworkUse {
  readonly endpoints = new Set<string>();
  readonly reservations = new Set<string>();
  readonly free: FreeNumbers;
  readonly taken6 = new Set<bigint>();
  readonly #first6: bigint;
  readonly #subnet: Subnet;

  constructor({ subnet, gateway, ipv6Subnet, ipv6Gateway }: Network) {
    this.#subnet = parseSubnet(subnet);
    this.free = new FreeNumbers(this.#subnet.size);
    this.free.take(0);
    this.free.take(this.#subnet.size - 1);
    if (gateway !== undefined) this.#mark(gateway, true);
    if (ipv6Gateway !== undefined) this.taken6.add(parseAddress(ipv6Gateway).value);
    this.#first6 = ipv6Subnet === undefined ? 0n : parseSubnet6(ipv6Subnet).address.value;
  }

  get last6(): bigint {
    let last = this.#first6;
    for (const each of this.taken6) if (each > last) last = each;
    return last;
  }

  get isEmpty(): boolean {
    return this.endpoints.size === 0 && this.reservations.size === 0;
  }

  noteEndpoint({ id, ipAddress, ipv6Address }: Endpoint, isThere: boolean): void {
    mark(this.endpoints, id, isThere);
    this.#mark(ipAddress, isThere);
    if (ipv6Address === '') return;
    mark(this.taken6, parseAddress(ipv6Address).value, isThere);
  }

  noteReservation(key: string, address: string, isThere: boolean): void {
    mark(this.reservations, key, isThere);
    this.#mark(address, isThere);
  }

  #mark(address: string, isTaken: boolean): void {
    const host = hostOf(this.#subnet, parseAddress(address));
    if (host === undefined) return;
    if (isTaken) this.free.take(host);
    else this.free.giveBack(host);
  }
}

function mark<T>(set: Set<T>, element: T, isThere: boolean): void {
  if (isThere) set.add(element);
  else set.delete(element);
}
