import { compact } from '@podwire/platform';
import { cidr, hardwareAddress, ip, ipOrCidr, orEmpty } from './address.js';
import { errorCodes } from './error.js';
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
} from './shape.js';

/** A host port that leads to a container's port. */
export interface PortMapping {
  /** 1 to 65535. */
  readonly hostPort: number;
  /** 1 to 65535. */
  readonly containerPort: number;
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Only on this address of the host; absent means on all. */
  readonly hostIP?: string;
}

/** Rates in bits per second, bursts in bits; 0 or absent means no limit. "Ingress" is traffic to the container. */
export interface Bandwidth {
  readonly ingressRate?: number;
  readonly ingressBurst?: number;
  readonly egressRate?: number;
  readonly egressBurst?: number;
}

/** Resolver settings in the words of the `dns` capability, which are not those of a result's `dns`. */
export interface DnsCapability {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
}

/** A range of addresses to choose from; without start and end the whole subnet. */
export interface IpRange {
  readonly subnet: string;
  readonly rangeStart?: string;
  readonly rangeEnd?: string;
  readonly gateway?: string;
}

/** The well-known keys of `runtimeConfig` (CNI conventions, "Well-known Capabilities"). Other keys stay untouched. */
export interface RuntimeConfig {
  readonly portMappings?: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  /** Requested addresses, with or without prefix length. */
  readonly ips?: readonly string[];
  readonly mac?: string;
  readonly dns?: DnsCapability;
  /** One address out of each inner list. */
  readonly ipRanges?: readonly (readonly IpRange[])[];
  readonly infinibandGUID?: string;
  readonly deviceID?: string;
  readonly aliases?: readonly string[];
  readonly cgroupPath?: string;
}

const port = integer(1, 65535);
const texts = array(string);
/** Rates and bursts are 64-bit in Go; what JavaScript can count exactly is 9 petabit, far above any link. */
const bits = integer(0, Number.MAX_SAFE_INTEGER);

/**
 * An object whose keys count whatever their case, as for Go's decoder: containerd 1.6 sends `HostPort` and `IngressRate`,
 * because its structures have no JSON names, and every plugin written in Go takes them. An exact key goes first.
 */
function objectOf(...names: readonly string[]): Reader<JsonObject> {
  const canonical = new Map(names.map((name) => [name.toLowerCase(), name]));
  return (value, path) => {
    const from = object(value, path);
    const renamed = Object.entries(from).map(([key, entry]) => [
      canonical.get(key.toLowerCase()) ?? key,
      entry,
    ]);
    return { ...(Object.fromEntries(renamed) as JsonObject), ...from };
  };
}

const protocol: Reader<PortMapping['protocol']> = (value, path) => {
  const text = string(value, path).toLowerCase();
  if (text === '') return 'tcp';
  if (text === 'tcp' || text === 'udp' || text === 'sctp') return text;
  throw new ShapeError(path, `must be tcp, udp or sctp, is ${JSON.stringify(value)}`);
};

const portMappingObject = objectOf('hostPort', 'containerPort', 'protocol', 'hostIP');

const portMapping: Reader<PortMapping | undefined> = (value, path) => {
  const from = portMappingObject(value, path);
  // Runtimes pass every container port; those without a host port ask for nothing.
  if (from['hostPort'] === 0 || from['hostPort'] === undefined) return undefined;
  return compact({
    hostPort: required(from, 'hostPort', path, port),
    containerPort: required(from, 'containerPort', path, port),
    protocol: optional(from, 'protocol', path, protocol) ?? 'tcp',
    hostIP: optional(from, 'hostIP', path, orEmpty(ip)),
  });
};

const portMappings: Reader<PortMapping[]> = (value, path) =>
  array(portMapping)(value, path).filter((mapping) => mapping !== undefined);

const bandwidthObject = objectOf('ingressRate', 'ingressBurst', 'egressRate', 'egressBurst');

const bandwidth: Reader<Bandwidth> = (value, path) => {
  const from = bandwidthObject(value, path);
  return compact({
    ingressRate: optional(from, 'ingressRate', path, bits),
    ingressBurst: optional(from, 'ingressBurst', path, bits),
    egressRate: optional(from, 'egressRate', path, bits),
    egressBurst: optional(from, 'egressBurst', path, bits),
  });
};

const dnsObject = objectOf('servers', 'searches', 'options');

const dns: Reader<DnsCapability> = (value, path) => {
  const from = dnsObject(value, path);
  return compact({
    servers: optional(from, 'servers', path, texts),
    searches: optional(from, 'searches', path, texts),
    options: optional(from, 'options', path, texts),
  });
};

const ipRangeObject = objectOf('subnet', 'rangeStart', 'rangeEnd', 'gateway');

const ipRange: Reader<IpRange> = (value, path) => {
  const from = ipRangeObject(value, path);
  return compact({
    subnet: required(from, 'subnet', path, cidr),
    rangeStart: optional(from, 'rangeStart', path, orEmpty(ip)),
    rangeEnd: optional(from, 'rangeEnd', path, orEmpty(ip)),
    gateway: optional(from, 'gateway', path, orEmpty(ip)),
  });
};

/** Readers of the well-known capabilities one by one; each throws a ShapeError with the path it was given. */
const capabilityReaders = {
  portMappings,
  bandwidth,
  ips: array(ipOrCidr),
  mac: hardwareAddress,
  dns,
  ipRanges: array(array(ipRange)),
  infinibandGUID: string,
  deviceID: string,
  aliases: texts,
  cgroupPath: string,
} satisfies { [K in keyof RuntimeConfig]-?: Reader<NonNullable<RuntimeConfig[K]>> };

/** The well-known keys of an object under `runtimeConfig`. @throws ShapeError */
function readRuntimeConfig(from: JsonObject, path: string): RuntimeConfig {
  const entries = Object.entries(capabilityReaders).map(([key, read]) => [
    key,
    optional<unknown>(from, key, path, read as Reader<unknown>),
  ]);
  return compact(Object.fromEntries(entries) as RuntimeConfig);
}

/**
 * Reads `runtimeConfig` of a request (specification, section 3, "Deriving runtimeConfig"; shapes by the conventions
 * document). Port mappings without a host port are dropped, protocols become lower case and default to tcp.
 * @param value the whole object; absent and null mean an empty one.
 * @throws CniError code 7 naming the field, `runtimeConfig.portMappings[0].hostPort: …`.
 */
export function parseRuntimeConfig(value: unknown): RuntimeConfig {
  if (value === undefined || value === null) return {};
  return readAs(errorCodes.invalidNetworkConfig, 'configuration', () =>
    readRuntimeConfig(object(value, 'runtimeConfig'), 'runtimeConfig'),
  );
}
