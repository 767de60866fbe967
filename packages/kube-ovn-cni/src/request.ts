/** The request of Kube-OVN's plugin: from its bytes to checked fields, and back. Pure. */
import { tryParseAddress, parseInterfaceAddress } from '@podwire/addresses';
import { parseJson, validateContainerId, validateInterfaceName } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { type JsonObject, toGoJson, toObject, toText } from './json.js';

/** Limit of a request, in bytes. */
export const maxRequestBytes = 1 << 20;

/** `Route` of the original: a route that the configuration of the plugin wants in the pod. */
export interface Route {
  /** A network, `10.0.0.0/8`. In JSON `dst`. */
  readonly destination: string;
  /** An address of its family, or empty for none. In JSON `gw`. */
  readonly gateway: string;
}

/** `CniRequest` of the original, version 1.8. An empty text is an absent one. */
export interface CniRequest {
  /** The plugin in the configuration: `kube-ovn`, or another one that asks for addresses alone. In JSON `cni_type`. */
  readonly cniType: string;
  /** `pod_name` */
  readonly podName: string;
  /** `pod_namespace` */
  readonly podNamespace: string;
  /** `container_id` */
  readonly containerId: string;
  /** Path of the network namespace; empty only for DEL, when the runtime has none any more. In JSON `net_ns`. */
  readonly netNs: string;
  /** In the pod. In JSON `if_name`. */
  readonly ifName: string;
  /** `ovn`, or NAME.NAMESPACE.ovn or NAME.NAMESPACE of an attachment: the prefix of the pod's annotations. */
  readonly provider: string;
  readonly routes: readonly Route[];
  /** `vf_driver` */
  readonly vfDriver: string;
  /** Address on the PCI bus. In JSON `deviceID`. */
  readonly deviceId: string;
}

/** Is the last part of the path of a request. */
export type Operation = 'add' | 'del';

const limits = { maxBytes: maxRequestBytes, maxDepth: 8, duplicateKeys: 'refuse' } as const;
const usualProvider = 'ovn';
const usualInterface = 'eth0';

/** The rule of the CNI specification for names (section 1), which covers those of Kubernetes. */
const name = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/;
const longestText = 4096;

/**
 * Reads and checks the body of a request. Fields that are not known are left out: later versions send more.
 * @throws PodwireError REQUEST_INVALID that names the field
 */
export function readCniRequest(body: Uint8Array, operation: Operation): CniRequest {
  try {
    return check(toRequest(toObject(parseJson(body, 'the request', limits) ?? {}, 'the request')), operation);
  } catch (cause) {
    const message = `parse ${operation} request failed ${describeError(cause)}`;
    throw new PodwireError('REQUEST_INVALID', message, { cause });
  }
}

function toRequest(from: JsonObject): CniRequest {
  return {
    cniType: toText(from, 'cni_type'),
    podName: toText(from, 'pod_name'),
    podNamespace: toText(from, 'pod_namespace'),
    containerId: toText(from, 'container_id'),
    netNs: toText(from, 'net_ns'),
    ifName: toText(from, 'if_name') || usualInterface,
    provider: toText(from, 'provider') || usualProvider,
    routes: toRoutes(from['routes'] ?? []),
    vfDriver: toText(from, 'vf_driver'),
    deviceId: toText(from, 'deviceID'),
  };
}

function toRoutes(value: unknown): readonly Route[] {
  if (!Array.isArray(value)) throw new Error('routes is no list');
  return value.map((item: unknown, index) => inField(`routes[${index}]`, () => toRoute(item)));
}

function toRoute(item: unknown): Route {
  const from = toObject(item, 'it');
  return { destination: toText(from, 'dst'), gateway: toText(from, 'gw') };
}

function check(request: CniRequest, operation: Operation): CniRequest {
  checkName('pod_name', request.podName);
  checkName('pod_namespace', request.podNamespace);
  checkName('provider', request.provider);
  if (request.cniType !== '') checkName('cni_type', request.cniType);
  inField('container_id', () => validateContainerId(request.containerId));
  inField('if_name', () => validateInterfaceName(request.ifName));
  if (operation === 'add' || request.netNs !== '') inField('net_ns', () => checkPath(request.netNs));
  inField('vf_driver', () => checkPlain(request.vfDriver));
  inField('deviceID', () => checkPlain(request.deviceId));
  for (const [index, route] of request.routes.entries()) inField(`routes[${index}]`, () => checkRoute(route));
  return request;
}

function inField<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${field}: ${describeError(cause)}`, { cause });
  }
}

function checkName(field: string, text: string): void {
  if (name.test(text)) return;
  const problem = text === '' ? 'is empty' : `${JSON.stringify(text.slice(0, 64))} is no name`;
  throw new Error(`${field}: ${problem}`);
}

function checkPath(text: string): void {
  if (!text.startsWith('/')) throw new Error('an absolute path is needed');
  checkPlain(text);
}

/** A zero byte would end a path for the kernel; a line end would end a line of a log. */
function checkPlain(text: string): void {
  if (text.length > longestText) throw new Error(`it is longer than ${longestText} characters`);
  if (/\p{Cc}/u.test(text)) throw new Error('it holds a control character');
}

function checkRoute({ destination, gateway }: Route): void {
  const { family } = parseInterfaceAddress(destination).address;
  if (gateway !== '' && tryParseAddress(gateway)?.family !== family)
    throw new Error(`gw ${JSON.stringify(gateway.slice(0, 64))} is no address of the family of dst`);
}

/** The body as the original's client sends it: keys in the order of their names, no list for no route. */
export function renderCniRequest(request: CniRequest): string {
  const routes = request.routes.map(({ destination: dst, gateway: gw }) => ({ dst, gw }));
  return toGoJson({
    cni_type: request.cniType,
    container_id: request.containerId,
    deviceID: request.deviceId,
    if_name: request.ifName,
    net_ns: request.netNs,
    pod_name: request.podName,
    pod_namespace: request.podNamespace,
    provider: request.provider,
    routes: routes.length === 0 ? null : routes,
    vf_driver: request.vfDriver,
  });
}
