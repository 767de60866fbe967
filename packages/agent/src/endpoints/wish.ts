/** What an ADD asks for, read from the request; nothing here looks at the node. */
import { parseAddress } from '@podwire/addresses';
import { type AttachmentRequest, type DnsCapability, parseRuntimeConfig } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import type { Bandwidth, EndpointId, PodIdentity, PortMapping } from '@podwire/network-contract';
import {
  annotationName,
  type AnnotationReader,
  asSource,
  openAnnotations,
  readWords,
} from './annotations.js';

export interface Wish {
  readonly pod: PodIdentity;
  /** Addresses asked for by name, without length; empty when any will do. */
  readonly addresses: readonly string[];
  /** Pools by name or CIDR, for each family apart; absent where any will do. */
  readonly pools?: { readonly ipv4?: readonly string[]; readonly ipv6?: readonly string[] };
  readonly families?: readonly (4 | 6)[];
  readonly mac?: string;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  readonly dns?: DnsCapability;
}

/** The identity of the attachment that a request is about. */
export function endpointIdOf({ config, containerId, interfaceName }: AttachmentRequest): EndpointId {
  return { network: config.name, containerId, ifName: interfaceName };
}

/** Who the pod is, from what Kubernetes runtimes put into `CNI_ARGS`. */
export function podIdentityOf(request: Pick<AttachmentRequest, 'args'>): PodIdentity {
  const args = new Map(request.args);
  const [namespace, name, uid] = ['NAMESPACE', 'NAME', 'UID'].map((key) => args.get(`K8S_POD_${key}`) ?? '');
  return {
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
  };
}

/**
 * Reads everything an ADD asks for. Keys that nobody knows are left alone, as the specification wants it.
 * @throws CniError code 7 for a capability of the wrong shape; PodwireError CONFIG_INVALID for the rest
 */
export function readWish(request: AttachmentRequest): Wish {
  const runtime = parseRuntimeConfig(request.config.runtimeConfig);
  const args = new Map(request.args);
  const annotation = openAnnotations(request.config, args);
  const pools = readPools(annotation);
  const families = readFamilies(annotation);
  const mac = readMac(request, runtime.mac, annotation);
  const bandwidth = withoutZeros(runtime.bandwidth);
  return {
    pod: podIdentityOf(request),
    addresses: readAddresses(request, runtime.ips, annotation),
    ...(pools === undefined ? {} : { pools }),
    ...(families === undefined ? {} : { families }),
    ...(mac === undefined ? {} : { mac }),
    portMappings: runtime.portMappings ?? [],
    ...(bandwidth === undefined ? {} : { bandwidth }),
    ...(runtime.dns === undefined ? {} : { dns: runtime.dns }),
  };
}

/** The doors through which addresses can be asked for, in the order in which they count. */
function readAddresses(
  request: AttachmentRequest,
  capability: readonly string[] | undefined,
  annotation: AnnotationReader,
): string[] {
  const inArgs = new Map(request.args).get('IP');
  const conventional = asSource(asSource(request.config['args'])['cni'])['ips'];
  const doors: [where: string, addresses: readonly string[] | undefined][] = [
    ['runtimeConfig.ips', capability],
    ['CNI_ARGS IP', inArgs ? inArgs.split(',') : undefined],
    ['args.cni.ips', readWords('args.cni.ips', conventional)],
    [annotationName('ipAddrs'), readWords(annotationName('ipAddrs'), annotation('ipAddrs'))],
  ];
  const [where, list] = doors.find(([, addresses]) => (addresses?.length ?? 0) > 0) ?? ['', []];
  return (list ?? []).map((text) => checkAddress(where, text.replace(/\/\d+$/, '')));
}

function checkAddress(where: string, text: string): string {
  try {
    parseAddress(text);
    return text;
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${where}: ${(cause as Error).message}`, { cause });
  }
}

function readPools(annotation: AnnotationReader): Wish['pools'] {
  const [ipv4, ipv6] = ['ipv4pools', 'ipv6pools'].map((name) =>
    readWords(annotationName(name), annotation(name)),
  );
  if (ipv4 === undefined && ipv6 === undefined) return undefined;
  return { ...(ipv4 === undefined ? {} : { ipv4 }), ...(ipv6 === undefined ? {} : { ipv6 }) };
}

function readFamilies(annotation: AnnotationReader): (4 | 6)[] | undefined {
  const where = annotationName('ipFamilies');
  return readWords(where, annotation('ipFamilies'))?.map((word) => {
    if (word === 'IPv4') return 4;
    if (word === 'IPv6') return 6;
    throw new PodwireError('CONFIG_INVALID', `${where}: ${JSON.stringify(word)} is neither IPv4 nor IPv6`);
  });
}

function readMac(
  request: AttachmentRequest,
  capability: string | undefined,
  annotation: AnnotationReader,
): string | undefined {
  const conventional = asSource(asSource(request.config['args'])['cni'])['mac'];
  const doors: [where: string, value: unknown][] = [
    ['runtimeConfig.mac', capability],
    ['CNI_ARGS MAC', new Map(request.args).get('MAC')],
    ['args.cni.mac', conventional],
    [annotationName('hwAddr'), annotation('hwAddr')],
  ];
  const [where, value] = doors.find(([, text]) => text !== undefined && text !== '') ?? [];
  return where === undefined ? undefined : checkMac(where, value);
}

/** An Ethernet address of one station: not of a group, not all zeros (`is_valid_ether_addr` of the kernel). */
function checkMac(where: string, value: unknown): string {
  const text = typeof value === 'string' ? value.toLowerCase().replaceAll('-', ':') : '';
  const valid = /^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/.test(text) && text !== '00:00:00:00:00:00';
  if (valid) return text;
  throw new PodwireError(
    'CONFIG_INVALID',
    `${where}: ${JSON.stringify(value)} is no MAC address that a link can have`,
  );
}

/** A rate of 0 means no limit, and a burst without a rate limits nothing. */
function withoutZeros(bandwidth: Bandwidth | undefined): Bandwidth | undefined {
  const { ingressRate = 0, ingressBurst = 0, egressRate = 0, egressBurst = 0 } = bandwidth ?? {};
  const limits = {
    ...(ingressRate > 0 ? { ingressRate, ...(ingressBurst > 0 ? { ingressBurst } : {}) } : {}),
    ...(egressRate > 0 ? { egressRate, ...(egressBurst > 0 ? { egressBurst } : {}) } : {}),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}
