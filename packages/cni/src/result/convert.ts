import { type Family, familyOf } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { CniError, errorCodes } from '../error.js';
import { type CniVersion, currentVersion } from '../version.js';
import type {
  AnyResult,
  Dns,
  Interface,
  InterfaceWithDetails,
  IpConfig,
  IpConfigWithVersion,
  LegacyIpConfig,
  ResultOf,
  Route,
  RouteWithAttributes,
} from './types.js';

/** The type that every version's result can be converted to without loss. The version itself is set on the way out. */
interface General {
  readonly interfaces: readonly InterfaceWithDetails[];
  readonly ips: readonly IpConfig[];
  readonly routes: readonly RouteWithAttributes[];
  readonly dns: Dns;
}

/**
 * Converts a result to another version, to the current one unless told otherwise. There is no text on how the versions
 * relate; the rules are those of Go's libraries. Up: an `ip4` becomes an address of family 4, `ip6` one of family 6,
 * their routes are joined, no gateway is invented. Down to 0.4.0: `mtu`, `socketPath` and `pciID` of interfaces go,
 * `version` comes from the address. Down to 0.2.0: the first address of each family, each with the routes of its family
 * (`dst` and `gw`).
 * Below 1.0.0 `dns` is always written, from 1.0.0 only when it says something. The input is not changed.
 * @throws CniError code 6 when a result without any address is to become 0.2.0 or 0.1.0, which cannot express it.
 */
export function convertResult<V extends CniVersion = typeof currentVersion>(
  result: AnyResult,
  toVersion?: V,
): ResultOf[V] {
  return lower(result, toVersion ?? currentVersion) as ResultOf[V];
}

function lower(result: AnyResult, to: CniVersion): AnyResult {
  switch (to) {
    case '0.1.0':
    case '0.2.0':
      return isLegacy(result) ? relabelLegacy(result, to) : { cniVersion: to, ...toLegacy(lift(result), to) };
    case '0.3.0':
    case '0.3.1':
    case '0.4.0':
      return { cniVersion: to, ...toVersioned(lift(result)) };
    case '1.0.0':
    case '1.1.0':
      return { cniVersion: to, ...withoutEmpty(lift(result)) };
  }
}

function isLegacy(result: AnyResult): result is ResultOf['0.1.0' | '0.2.0'] {
  return result.cniVersion === '0.1.0' || result.cniVersion === '0.2.0';
}

/** 0.1.0 and 0.2.0 have one shape, and may both be without an address (the output `null` of old plugins). */
function relabelLegacy({ ip4, ip6, dns }: ResultOf['0.1.0' | '0.2.0'], to: '0.1.0' | '0.2.0'): AnyResult {
  const [four, six] = [ip4, ip6].map((config) => config && withoutEmptyRoutes(config));
  return { cniVersion: to, ...compact({ ip4: four, ip6: six, dns: withoutEmptyDns(dns ?? {}) }) };
}

function withoutEmptyRoutes({ ip, gateway, routes = [] }: LegacyIpConfig): LegacyIpConfig {
  return compact({ ip, gateway, routes: routes.length > 0 ? routes : undefined });
}

function lift(result: AnyResult): General {
  if (isLegacy(result)) return liftLegacy(result);
  return {
    interfaces: result.interfaces ?? [],
    ips: (result.ips ?? []).map(withoutVersion),
    routes: result.routes ?? [],
    dns: withoutEmptyDns(result.dns ?? {}),
  };
}

function liftLegacy({ ip4, ip6, dns }: ResultOf['0.1.0' | '0.2.0']): General {
  const both = [ip4, ip6].filter((config) => config !== undefined);
  return {
    interfaces: [],
    ips: both.map(({ ip, gateway }) => compact({ address: ip, gateway })),
    routes: both.flatMap(({ routes }) => routes ?? []),
    dns: withoutEmptyDns(dns ?? {}),
  };
}

function withoutVersion(config: IpConfig | IpConfigWithVersion): IpConfig {
  return compact({ interface: config.interface, address: config.address, gateway: config.gateway });
}

function toLegacy(
  general: General,
  to: CniVersion,
): { ip4?: LegacyIpConfig; ip6?: LegacyIpConfig; dns: Dns } {
  const [ip4, ip6] = [legacyConfig(general, 4), legacyConfig(general, 6)];
  if (ip4 === undefined && ip6 === undefined) {
    throw new CniError(errorCodes.decodingFailure, `a result without addresses cannot be expressed in ${to}`);
  }
  return compact({ ip4, ip6, dns: general.dns });
}

function legacyConfig({ ips, routes }: General, family: Family): LegacyIpConfig | undefined {
  const first = ips.find(({ address }) => familyOf(address) === family);
  if (first === undefined) return undefined;
  const own = routes.filter(({ dst }) => familyOf(dst) === family).map(plainRoute);
  return withoutEmptyRoutes(compact({ ip: first.address, gateway: first.gateway, routes: own }));
}

function plainRoute({ dst, gw }: Route): Route {
  return compact({ dst, gw });
}

function toVersioned(general: General): Omit<ResultOf['0.4.0'], 'cniVersion'> {
  const { ips, ...rest } = withoutEmpty({ ...general, interfaces: general.interfaces.map(plainInterface) });
  return compact({ ...rest, ips: ips?.map(withFamily), dns: general.dns });
}

function withFamily(config: IpConfig): IpConfigWithVersion {
  return { version: familyOf(config.address) === 4 ? '4' : '6', ...config };
}

function plainInterface({ name, mac, sandbox }: Interface): Interface {
  return compact({ name, mac, sandbox });
}

/** Empty lists and an empty `dns` say nothing; from 1.0.0 on they are left out. */
function withoutEmpty({ interfaces, ips, routes, dns }: General): Omit<ResultOf['1.1.0'], 'cniVersion'> {
  return compact({
    interfaces: interfaces.length > 0 ? interfaces : undefined,
    ips: ips.length > 0 ? ips : undefined,
    routes: routes.length > 0 ? routes : undefined,
    dns: Object.keys(dns).length > 0 ? dns : undefined,
  });
}

function withoutEmptyDns({ nameservers, domain, search, options }: Dns): Dns {
  return compact({
    nameservers: nameservers !== undefined && nameservers.length > 0 ? nameservers : undefined,
    domain: domain === '' ? undefined : domain,
    search: search !== undefined && search.length > 0 ? search : undefined,
    options: options !== undefined && options.length > 0 ? options : undefined,
  });
}
