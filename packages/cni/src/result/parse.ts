import { familyOf } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { cidr, ip, orEmpty } from '../address.js';
import { errorCodes } from '../error.js';
import {
  array,
  integer,
  type JsonObject,
  object,
  optional,
  type Reader,
  readAs,
  required,
  ShapeError,
  string,
} from '../shape.js';
import { type CniVersion, isSupportedVersion } from '../version.js';
import type {
  AnyResult,
  Dns,
  InterfaceWithDetails,
  IpConfig,
  IpConfigWithVersion,
  LegacyIpConfig,
  Result02,
  Result04,
  Result1,
  Route,
  RouteWithAttributes,
} from './types.js';

const int32 = integer(-0x8000_0000, 0x7fff_ffff);
const uint32 = integer(0, 0xffff_ffff);
const texts = array(string);
const text = orEmpty(string);

const dns: Reader<Dns> = (value, path) => {
  const from = object(value, path);
  return compact({
    nameservers: optional(from, 'nameservers', path, texts),
    domain: optional(from, 'domain', path, text),
    search: optional(from, 'search', path, texts),
    options: optional(from, 'options', path, texts),
  });
};

const route: Reader<RouteWithAttributes> = (value, path) => {
  const from = object(value, path);
  return compact({
    dst: required(from, 'dst', path, cidr),
    gw: optional(from, 'gw', path, orEmpty(ip)),
    mtu: optional(from, 'mtu', path, uint32),
    advmss: optional(from, 'advmss', path, uint32),
    priority: optional(from, 'priority', path, uint32),
    table: optional(from, 'table', path, uint32),
    scope: optional(from, 'scope', path, int32),
  });
};

/** Versions with `ip4` and `ip6` know of no more. */
const plainRoute: Reader<Route> = (value, path) => {
  const { dst, gw } = route(value, path);
  return compact({ dst, gw });
};

const legacyIp: Reader<LegacyIpConfig> = (value, path) => {
  const from = object(value, path);
  return compact({
    ip: required(from, 'ip', path, cidr),
    gateway: optional(from, 'gateway', path, orEmpty(ip)),
    routes: optional(from, 'routes', path, array(plainRoute)),
  });
};

const networkInterface: Reader<InterfaceWithDetails> = (value, path) => {
  const from = object(value, path);
  return compact({
    name: required(from, 'name', path, string),
    mac: optional(from, 'mac', path, text),
    mtu: optional(from, 'mtu', path, uint32),
    sandbox: optional(from, 'sandbox', path, text),
    socketPath: optional(from, 'socketPath', path, text),
    pciID: optional(from, 'pciID', path, text),
  });
};

const ipConfig: Reader<IpConfig> = (value, path) => {
  const from = object(value, path);
  return compact({
    // Seen in the wild: -1 for "none of the list" (bridge plugin with an IPAM result), so no lower bound of 0.
    interface: optional(from, 'interface', path, int32),
    address: required(from, 'address', path, cidr),
    gateway: optional(from, 'gateway', path, orEmpty(ip)),
  });
};

/** `version` must be "4" or "6" when it is there; some plugins leave it out, then the address tells. */
const ipConfigWithVersion: Reader<IpConfigWithVersion> = (value, path) => {
  const config = ipConfig(value, path);
  const stated = optional(object(value, path), 'version', path, text);
  if (stated !== undefined && stated !== '4' && stated !== '6') {
    throw new ShapeError(`${path}.version`, `must be "4" or "6", is ${JSON.stringify(stated)}`);
  }
  return { version: stated ?? (familyOf(config.address) === 4 ? '4' : '6'), ...config };
};

function readResult02<V extends '0.1.0' | '0.2.0'>(
  from: JsonObject,
  path: string,
  cniVersion: V,
): Result02<V> {
  return {
    cniVersion,
    ...compact({
      ip4: optional(from, 'ip4', path, legacyIp),
      ip6: optional(from, 'ip6', path, legacyIp),
      dns: optional(from, 'dns', path, dns),
    }),
  };
}

function readResult04<V extends '0.3.0' | '0.3.1' | '0.4.0'>(
  from: JsonObject,
  path: string,
  cniVersion: V,
): Result04<V> {
  return {
    cniVersion,
    ...compact({
      interfaces: optional(from, 'interfaces', path, array(networkInterface)),
      ips: optional(from, 'ips', path, array(ipConfigWithVersion)),
      routes: optional(from, 'routes', path, array(route)),
      dns: optional(from, 'dns', path, dns),
    }),
  };
}

function readResult1<V extends '1.0.0' | '1.1.0'>(from: JsonObject, path: string, cniVersion: V): Result1<V> {
  return {
    cniVersion,
    ...compact({
      interfaces: optional(from, 'interfaces', path, array(networkInterface)),
      ips: optional(from, 'ips', path, array(ipConfig)),
      routes: optional(from, 'routes', path, array(route)),
      dns: optional(from, 'dns', path, dns),
    }),
  };
}

function readVersion(from: JsonObject, path: string, fallback: CniVersion): CniVersion {
  const stated = optional(from, 'cniVersion', path, string) ?? '';
  if (stated === '') return fallback;
  if (isSupportedVersion(stated)) return stated;
  throw new ShapeError(
    path === '' ? 'cniVersion' : `${path}.cniVersion`,
    `"${stated}" is no released CNI version`,
  );
}

/** A result whose `cniVersion`, when absent, is `fallback`. */
function resultReader(fallback: CniVersion): Reader<AnyResult> {
  return (value, path) => {
    const from = object(value, path);
    const version = readVersion(from, path, fallback);
    switch (version) {
      case '0.1.0':
      case '0.2.0':
        return readResult02(from, path, version);
      case '0.3.0':
      case '0.3.1':
      case '0.4.0':
        return readResult04(from, path, version);
      case '1.0.0':
      case '1.1.0':
        return readResult1(from, path, version);
    }
  };
}

/**
 * Reads a result of any version (specification, section 5, "ADD Success"). Keys of the version are checked and kept,
 * others are left out; `null` and empty addresses count as absent.
 * @param fallback version when `cniVersion` is absent or empty; 0.1.0 by the letter. A runtime passes the version of
 *   the configuration here, which is what plugins that forget the field mean.
 * @throws CniError code 6 naming the field.
 */
export function parseResult(value: unknown, fallback: CniVersion = '0.1.0'): AnyResult {
  return readAs(errorCodes.decodingFailure, 'result', () => resultReader(fallback)(value, ''));
}
