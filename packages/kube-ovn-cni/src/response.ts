/** The response of Kube-OVN's node daemon: bytes and fields. Pure. */
import { fileLimits, parseJson } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { type JsonObject, toGoJson, toObject, toText } from './json.js';

/** The families of a pod: `Dual` has both, the one of IPv4 first in each list. Empty in an error. */
export type Protocol = 'IPv4' | 'IPv6' | 'Dual' | '';

/** `CniResponse` of the original, version 1.8. Each list is joined by commas. */
export interface CniResponse {
  readonly protocol: Protocol;
  /** Addresses. In JSON `address`. */
  readonly ipAddress: string;
  /** `mac_address` */
  readonly macAddress: string;
  /** The networks of the addresses. In JSON `cidr`. */
  readonly cidr: string;
  /** Addresses; empty where there is none. In JSON `gateway`. */
  readonly gateway: string;
  /** Bytes; 0 where it is not stated, as the original never does. In JSON `mtu`. */
  readonly mtu: number;
  /** The name of the interface in the pod; empty where only addresses were asked for. In JSON `nicname`. */
  readonly podNicName: string;
  /** `error` */
  readonly err: string;
}

const nothing: CniResponse = {
  ...{ protocol: '', ipAddress: '', macAddress: '', cidr: '', gateway: '', mtu: 0, podNicName: '', err: '' },
};

export const errorResponse = (err: string): CniResponse => ({ ...nothing, err });

/** The body as the original sends it: no field is left out, one blank for the level. */
export function renderCniResponse(response: CniResponse): string {
  const { protocol, ipAddress, macAddress, cidr, gateway, mtu, podNicName, err } = response;
  const fields = { protocol, address: ipAddress, mac_address: macAddress, cidr, gateway, mtu };
  return toGoJson({ ...fields, nicname: podNicName, error: err }, 1);
}

/** Reads what a node has answered. @throws PodwireError REQUEST_INVALID that names the field */
export function readCniResponse(body: Uint8Array): CniResponse {
  try {
    return toResponse(toObject(parseJson(body, 'the response', fileLimits), 'the response'));
  } catch (cause) {
    const message = `the response of the node cannot be read: ${describeError(cause)}`;
    throw new PodwireError('REQUEST_INVALID', message, { cause });
  }
}

function toResponse(from: JsonObject): CniResponse {
  return {
    protocol: toProtocol(toText(from, 'protocol')),
    ipAddress: toText(from, 'address'),
    macAddress: toText(from, 'mac_address'),
    cidr: toText(from, 'cidr'),
    gateway: toText(from, 'gateway'),
    mtu: toMtu(from['mtu'] ?? 0),
    podNicName: toText(from, 'nicname'),
    err: toText(from, 'error'),
  };
}

function toProtocol(text: string): Protocol {
  if (text === 'IPv4' || text === 'IPv6' || text === 'Dual' || text === '') return text;
  throw new Error('protocol is none of IPv4, IPv6 and Dual');
}

function toMtu(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff) return value;
  throw new Error('mtu is no number of bytes');
}
