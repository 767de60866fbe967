/** Reads the request of an ADD; nothing here looks at the node. */
import { parseAddress } from '@podwire/addresses';
import {
  type AttachmentRequest,
  type DnsCapability,
  parseRuntimeConfig,
  type RequestConfig,
} from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type EndpointFacts, readFacts } from '../policy/inputs/facts.js';
import type { Annotations, Bandwidth, EndpointId, PodIdentity, PortMapping } from '@podwire/network-contract';

export interface AddRequest {
  readonly facts: EndpointFacts;
  readonly pod: PodIdentity;
  /** Requested addresses, without length; empty: any. */
  readonly addresses: readonly string[];
  /** Requested pools of each family, by name or CIDR; absent: any. */
  readonly pools?: { readonly ipv4?: readonly string[]; readonly ipv6?: readonly string[] };
  readonly families?: readonly (4 | 6)[];
  readonly mac?: string;
  /** All of the pod, as far as the runtime sends them. */
  readonly annotations: Annotations;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  readonly dns?: DnsCapability;
}

/** The identity of the attachment that a request is about. */
export function endpointIdOf({ config, containerId, interfaceName }: AttachmentRequest): EndpointId {
  return { network: config.name, containerId, ifName: interfaceName };
}

/** The pod, from what Kubernetes runtimes put into `CNI_ARGS`. */
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
 * Unknown keys are ignored, as the specification requires.
 * @throws CniError code 7 for a capability of the wrong shape; PodwireError CONFIG_INVALID for the rest
 */
export function readAddRequest(request: AttachmentRequest): AddRequest {
  const runtime = parseRuntimeConfig(request.config.runtimeConfig);
  const args = new Map(request.args);
  const annotation = openAnnotations(request.config, args);
  return compact({
    pod: podIdentityOf(request),
    facts: readFacts(request),
    addresses: readAddresses(request, runtime.ips, annotation),
    pools: readPools(annotation),
    families: readFamilies(annotation),
    mac: readMac(request, runtime.mac, annotation),
    annotations: readAnnotations(request.config),
    portMappings: runtime.portMappings ?? [],
    bandwidth: withoutZeros(runtime.bandwidth),
    dns: runtime.dns,
  });
}

/** The sources of requested addresses, in order of precedence. */
function readAddresses(
  request: AttachmentRequest,
  capability: readonly string[] | undefined,
  annotation: AnnotationReader,
): string[] {
  const inArgs = new Map(request.args).get('IP');
  const conventional = asSource(asSource(request.config['args'])['cni'])['ips'];
  const sources: [where: string, addresses: readonly string[] | undefined][] = [
    ['runtimeConfig.ips', capability],
    ['CNI_ARGS IP', inArgs ? inArgs.split(',') : undefined],
    ['args.cni.ips', readWords('args.cni.ips', conventional)],
    [annotationName('ipAddrs'), readWords(annotationName('ipAddrs'), annotation('ipAddrs'))],
  ];
  const [where, list] = sources.find(([, addresses]) => (addresses?.length ?? 0) > 0) ?? ['', []];
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

function readPools(annotation: AnnotationReader): AddRequest['pools'] {
  const [ipv4, ipv6] = ['ipv4pools', 'ipv6pools'].map((name) =>
    readWords(annotationName(name), annotation(name)),
  );
  return ipv4 === undefined && ipv6 === undefined ? undefined : compact({ ipv4, ipv6 });
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
  const sources: [where: string, value: unknown][] = [
    ['runtimeConfig.mac', capability],
    ['CNI_ARGS MAC', new Map(request.args).get('MAC')],
    ['args.cni.mac', conventional],
    [annotationName('hwAddr'), annotation('hwAddr')],
  ];
  const [where, value] = sources.find(([, text]) => text !== undefined && text !== '') ?? [];
  return where === undefined ? undefined : checkMac(where, value);
}

/** An Ethernet address of one station: not of a group, not all zeros (`is_valid_ether_addr` of the kernel). */
function checkMac(where: string, value: unknown): string {
  const text = typeof value === 'string' ? value.toLowerCase().replaceAll('-', ':') : '';
  const valid = /^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/.test(text) && text !== '00:00:00:00:00:00';
  if (valid) return text;
  throw new PodwireError(
    'CONFIG_INVALID',
    `${where}: ${JSON.stringify(value)} is not a MAC address of a link`,
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

/**
 * Calico's annotations for addresses, pools and a MAC come from three sources: the annotations capability of containerd and CRI-O,
 * `CNI_ARGS`, and `args` of the configuration.
 */
const prefix = 'cni.projectcalico.org/';
/** Name of the capability in containerd and CRI-O. */
const annotationsCapability = 'io.kubernetes.cri.pod-annotations';

type Source = Readonly<Record<string, unknown>>;

/** Finds an annotation by its name after `cni.projectcalico.org/`; the first source that has it counts. */
type AnnotationReader = (name: string) => unknown;

function openAnnotations(config: RequestConfig, cniArgs: ReadonlyMap<string, string>): AnnotationReader {
  const sources = [
    asSource(config.runtimeConfig?.[annotationsCapability]),
    Object.fromEntries(cniArgs),
    asSource(config['args']),
    asSource(asSource(config['args'])['cni']),
  ];
  return (name) =>
    sources.map((source) => source[prefix + name]).find((value) => value !== undefined && value !== '');
}

/** Values that are no text are for no one here. */
const readAnnotations = ({ runtimeConfig }: RequestConfig): Annotations =>
  Object.fromEntries(
    Object.entries(asSource(runtimeConfig?.[annotationsCapability])).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

function asSource(value: unknown): Source {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Source) : {};
}

/**
 * A list of words: a JSON array, or a text that holds one, as annotations do.
 * @throws PodwireError CONFIG_INVALID
 */
function readWords(where: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? parseText(where, value) : value;
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw new PodwireError('CONFIG_INVALID', `${where}: must be a JSON array of strings`);
}

function parseText(where: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${where}: is not JSON: ${JSON.stringify(text.slice(0, 64))}`, {
      cause,
    });
  }
}

/** The full name, for messages. */
function annotationName(name: string): string {
  return prefix + name;
}
