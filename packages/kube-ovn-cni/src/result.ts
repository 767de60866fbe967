/** A CNI result as a response of Kube-OVN, and a response as the result that its plugin prints. Pure. */
import {
  type Family,
  formatAddress,
  formatPrefix,
  parseAddress,
  parseInterfaceAddress,
  parsePrefix,
  prefixOf,
} from '@podwire/addresses';
import {
  type AnyResult,
  type CniVersion,
  convertResult,
  type InterfaceWithDetails,
  type IpConfig,
  type Result,
} from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { CniResponse, Protocol } from './response.js';

/** Versions of CNI that the plugin of 1.8 has (`version.All` of Go's library 0.8.0). */
export const pluginVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0'] as const satisfies CniVersion[];
export type PluginVersion = (typeof pluginVersions)[number];

/** One address of a pod, as both forms have it. */
interface Lease {
  readonly family: Family;
  readonly address: string;
  /** Of the network. */
  readonly cidr: string;
  /** Empty: there is none. */
  readonly gateway: string;
}

/**
 * The response for a pod with this result: its interface in the pod, or the last one where none says its namespace; one
 * address of each family at most.
 * @throws PodwireError INTERNAL when it has no address, or several of a family
 */
export function toCniResponse(result: AnyResult): CniResponse {
  const { interfaces = [], ips = [] } = convertResult(result);
  const leases = ips.map(toLease).toSorted((one, other) => one.family - other.family);
  const protocol = protocolOf(leases);
  const link: InterfaceWithDetails | undefined =
    interfaces.find(({ sandbox = '' }) => sandbox !== '') ?? interfaces.at(-1);
  return {
    protocol,
    ipAddress: leases.map(({ address }) => address).join(','),
    macAddress: link?.mac ?? '',
    cidr: leases.map(({ cidr }) => cidr).join(','),
    gateway: joinGateways(leases),
    mtu: link?.mtu ?? 0,
    podNicName: link?.name ?? '',
    err: '',
  };
}

function toLease({ address: text, gateway }: IpConfig): Lease {
  const { address, length } = parseInterfaceAddress(text);
  const { family } = address;
  const cidr = formatPrefix(prefixOf(address, length));
  const via = gateway === undefined ? '' : formatAddress(parseAddress(gateway));
  return { family, address: formatAddress(address), cidr, gateway: via };
}

function protocolOf(leases: readonly Lease[]): Protocol {
  const families = leases.map(({ family }) => family).join(',');
  if (families === '4') return 'IPv4';
  if (families === '6') return 'IPv6';
  if (families === '4,6') return 'Dual';
  const message = `Kube-OVN's plugin takes one address of each family, not ${leases.length}`;
  throw new PodwireError('INTERNAL', message, { details: { families } });
}

const joinGateways = (leases: readonly Lease[]): string =>
  leases.some(({ gateway }) => gateway !== '') ? leases.map(({ gateway }) => gateway).join(',') : '';

/**
 * The result that the plugin prints for a response under the version of its configuration: one interface, the
 * addresses, and a default route by each gateway. Below 0.3.0 it is one of 0.2.0, as the original's. `JSON.stringify`
 * keeps the original's order.
 * @throws PodwireError REQUEST_INVALID that names the field
 */
export function toCniResult(response: CniResponse, version: PluginVersion): AnyResult {
  const result = toResult(response);
  if (version === '0.1.0' || version === '0.2.0') return convertResult(result, '0.2.0');
  const { cniVersion, interfaces, ips, routes, dns } = convertResult(result, version);
  return compact({ cniVersion, interfaces, ips, routes, dns });
}

function toResult(response: CniResponse): Result {
  const leases = readLeases(response);
  const { podNicName: name, macAddress } = response;
  const routes = leases.filter(({ gateway }) => gateway !== '').map(toDefaultRoute);
  const ips = leases.map(({ address, cidr, gateway }) =>
    compact({ address: `${address}/${parsePrefix(cidr).length}`, gateway: gateway || undefined }),
  );
  const interfaces = [compact({ name, mac: macAddress || undefined })];
  return { cniVersion: '1.1.0', interfaces, ips, ...(routes.length === 0 ? {} : { routes }) };
}

const toDefaultRoute = ({ family, gateway }: Lease): { dst: string; gw: string } => ({
  dst: family === 4 ? '0.0.0.0/0' : '::/0',
  gw: gateway,
});

const familiesOf: Readonly<Record<Protocol, readonly Family[]>> = {
  ...{ IPv4: [4], IPv6: [6], Dual: [4, 6], '': [] },
};

function readLeases({ protocol, ipAddress, cidr, gateway }: CniResponse): readonly Lease[] {
  const families = familiesOf[protocol];
  if (families.length === 0) throw unreadable('protocol', 'it is empty');
  const addresses = splitList('address', ipAddress, families);
  const networks = splitList('cidr', cidr, families);
  const gateways = gateway === '' ? families.map(() => '') : splitList('gateway', gateway, families);
  return families.map((family, index) => ({
    family,
    address: readAddress('address', addresses[index] ?? '', family),
    cidr: readNetwork(networks[index] ?? '', family),
    gateway: gateways[index] === '' ? '' : readAddress('gateway', gateways[index] ?? '', family),
  }));
}

function splitList(field: string, text: string, families: readonly Family[]): readonly string[] {
  const items = text.split(',');
  if (items.length === families.length) return items;
  throw unreadable(field, `it has ${items.length} parts for ${families.length} families`);
}

function readAddress(field: string, text: string, family: Family): string {
  const address = inField(field, () => parseAddress(text));
  if (address.family === family) return formatAddress(address);
  throw unreadable(field, `${text} is not of IPv${family}`);
}

function readNetwork(text: string, family: Family): string {
  const prefix = inField('cidr', () => parsePrefix(text, { loose: true }));
  if (prefix.family === family) return formatPrefix(prefix);
  throw unreadable('cidr', `${text} is not of IPv${family}`);
}

function inField<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw unreadable(field, describeError(cause), cause);
  }
}

function unreadable(field: string, problem: string, cause?: unknown): PodwireError {
  return new PodwireError('REQUEST_INVALID', `the response of the node has a wrong ${field}: ${problem}`, {
    cause,
  });
}
