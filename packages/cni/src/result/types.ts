import type { CniVersion } from '../version.js';

/** Resolver settings, the same in every version (specification, section 5, "ADD Success", `dns`). */
export interface Dns {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** A route as versions up to 1.0.0 have it; `dst` is a CIDR block. Without `gw`: the plugin's default gateway. */
export interface Route {
  readonly dst: string;
  readonly gw?: string;
}

/** A route of 1.1.0. Go's libraries write these keys under older versions too, so they are read there as well. */
export interface RouteWithAttributes extends Route {
  /** Bytes. */
  readonly mtu?: number;
  /** Bytes. */
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

/** One family's address in results of 0.1.0 and 0.2.0; `ip` is a CIDR. */
export interface LegacyIpConfig {
  readonly ip: string;
  readonly gateway?: string;
  readonly routes?: readonly Route[];
}

/** Result of 0.1.0 and 0.2.0: one address of each family at most. */
export interface Result02<V extends CniVersion = '0.1.0' | '0.2.0'> {
  readonly cniVersion: V;
  readonly ip4?: LegacyIpConfig;
  readonly ip6?: LegacyIpConfig;
  readonly dns?: Dns;
}

/** An interface up to 1.0.0. `sandbox` is the namespace path; absent for an interface of the host. */
export interface Interface {
  readonly name: string;
  readonly mac?: string;
  readonly sandbox?: string;
}

/** An interface of 1.1.0. */
export interface InterfaceWithDetails extends Interface {
  /** Bytes. */
  readonly mtu?: number;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address; `interface` is an index into `interfaces` (−1 and indexes beyond the list are seen and tolerated). */
export interface IpConfig {
  readonly address: string;
  readonly gateway?: string;
  readonly interface?: number;
}

/** An address of 0.3.0 to 0.4.0, which says its family. */
export interface IpConfigWithVersion extends IpConfig {
  readonly version: '4' | '6';
}

/** Result of 0.3.0, 0.3.1 and 0.4.0. */
export interface Result04<V extends CniVersion = '0.3.0' | '0.3.1' | '0.4.0'> {
  readonly cniVersion: V;
  readonly interfaces?: readonly Interface[];
  readonly ips?: readonly IpConfigWithVersion[];
  readonly routes?: readonly RouteWithAttributes[];
  readonly dns?: Dns;
}

/** Result of 1.0.0 and 1.1.0. Under 1.0.0 the newer keys are extensions that Go's libraries keep. */
export interface Result1<V extends CniVersion = '1.0.0' | '1.1.0'> {
  readonly cniVersion: V;
  readonly interfaces?: readonly InterfaceWithDetails[];
  readonly ips?: readonly IpConfig[];
  readonly routes?: readonly RouteWithAttributes[];
  readonly dns?: Dns;
}

/** The type of a result by its version. */
export interface ResultOf {
  '0.1.0': Result02<'0.1.0'>;
  '0.2.0': Result02<'0.2.0'>;
  '0.3.0': Result04<'0.3.0'>;
  '0.3.1': Result04<'0.3.1'>;
  '0.4.0': Result04<'0.4.0'>;
  '1.0.0': Result1<'1.0.0'>;
  '1.1.0': Result1<'1.1.0'>;
}

/** A result of the current version: what new code builds. */
export type Result = ResultOf['1.1.0'];

/** A result of any version; `cniVersion` tells which. */
export type AnyResult = ResultOf[CniVersion];

/** The answer to VERSION (section 5, "VERSION Success"). */
export interface VersionResult {
  readonly cniVersion: string;
  readonly supportedVersions: readonly string[];
}
