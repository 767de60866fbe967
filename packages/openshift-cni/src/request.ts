/** A request of the plugin: from the bytes of OpenShift SDN to one that Podwire's CNI server takes. Pure. */
import {
  type CniArgs,
  formatCniArgs,
  type JsonLimits,
  parseJson,
  parseRequestConfig,
  type RequestConfig,
  requestLimits,
  validateContainerId,
  validateInterfaceName,
} from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { type Envelope, readEnvelope } from './envelope.js';

/** Limit of a request, in bytes: a configuration of 1 MiB in base64, and an environment. */
export const maxRequestBytes = 2 << 20;

/** A request as Podwire's plugin sends it: the CNI part of its environment, and its standard input. */
export interface PluginRequest {
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly stdin: Uint8Array;
}

/** A checked request. */
export interface PodRequest {
  readonly command: 'ADD' | 'DEL';
  readonly containerId: string;
  /** Path of the network namespace; empty only for DEL, when the runtime has none any more. */
  readonly netns: string;
  /** In the pod. */
  readonly interfaceName: string;
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly args: CniArgs;
  readonly config: RequestConfig;
  /** The end on the host of the veth pair that the caller has made. Absent: it has made none. */
  readonly hostVeth?: string;
  /** The same request for Podwire's own CNI server. */
  readonly plugin: PluginRequest;
}

export interface DecodeOptions {
  /**
   * `required`: an ADD whose caller has made no veth pair is refused, as the original does it. `refused` is for a server that makes the
   * pair itself: it refuses the plugin of OpenShift SDN, which has made one.
   */
  readonly hostVeth: 'required' | 'refused';
}

const limits: JsonLimits = { ...requestLimits, maxBytes: maxRequestBytes };
/** The original's constant; its server does not look at the name that is asked for. */
const defaultInterface = 'eth0';
/** Everything else in the environment of a plugin is its runtime's own business, and may be secret. */
const carried = [
  ...[
    'CNI_COMMAND',
    'CNI_CONTAINERID',
    'CNI_NETNS',
    'CNI_IFNAME',
    'CNI_ARGS',
    'CNI_PATH',
    'CNI_NETNS_OVERRIDE',
  ],
  ...['TRACEPARENT', 'TRACESTATE', 'BAGGAGE'],
];

/**
 * Reads and checks the body of a request, in the order of the original and with its words: they end in the events of
 * pods, where people look for them.
 * @throws PodwireError REQUEST_INVALID whose message is the whole answer; CniError for a malformed container id,
 *   interface name or configuration, at which the original does not look
 */
export function decodeRequest(body: Uint8Array, { hostVeth }: DecodeOptions): PodRequest {
  const envelope = readBody(body);
  const { env } = envelope;
  if (env.get('CNI_COMMAND') === undefined) throw refused('unexpected or missing CNI_COMMAND');
  const command = env.get('CNI_COMMAND') ?? '';
  const containerId = requireVariable(env, 'CNI_CONTAINERID');
  const netns = requireVariable(env, 'CNI_NETNS');
  if (command === 'ADD') checkLink(envelope.hostVeth, hostVeth);
  const args = readArgs(env);
  const pod = { namespace: readPod(args, 'K8S_POD_NAMESPACE'), name: readPod(args, 'K8S_POD_NAME') };
  // UPDATE is there in the original, too, but only its own node process asks for it.
  if (command !== 'ADD' && command !== 'DEL') throw refused(`unhandled CNI request ${command}`);
  if (command === 'ADD' && netns === '') throw refused('missing CNI_NETNS');
  const interfaceName = env.get('CNI_IFNAME') || defaultInterface;
  checkNames(containerId, interfaceName, envelope.hostVeth);
  return {
    ...{ command, containerId, netns, interfaceName, pod, args },
    config: parseRequestConfig(envelope.config, command),
    ...compact({ hostVeth: envelope.hostVeth === '' ? undefined : envelope.hostVeth }),
    plugin: { environment: toEnvironment(env, args, interfaceName), stdin: envelope.config },
  };
}

function readBody(body: Uint8Array): Envelope {
  try {
    return readEnvelope(parseJson(body, 'request', limits));
  } catch (cause) {
    throw refused(`JSON unmarshal error: ${describeError(cause)}`, cause);
  }
}

function requireVariable(env: ReadonlyMap<string, string>, name: string): string {
  const value = env.get(name);
  if (value === undefined) throw refused(`missing ${name}`);
  return value;
}

function checkLink(hostVeth: string, wanted: DecodeOptions['hostVeth']): void {
  if (wanted === 'required' && hostVeth === '') throw refused('missing HostVeth');
  if (wanted === 'refused' && hostVeth !== '')
    throw refused(
      `HostVeth is ${hostVeth}, but this node makes links itself: install Podwire's openshift-sdn`,
    );
}

/** Spaces around keys and values are no part of them. */
function readArgs(env: ReadonlyMap<string, string>): CniArgs {
  const text = env.get('CNI_ARGS');
  if (text === undefined) throw refused(`missing CNI_ARGS: '${describeEnvironment(env)}'`);
  return text.split(';').map((pair) => {
    const [key = '', value, ...more] = pair.split('=').map((part) => part.trim());
    if (key === '' || value === undefined || more.length > 0) throw refused(`invalid CNI_ARG '${pair}'`);
    return [key, value] as const;
  });
}

/** As Go prints a map. The original shows the whole environment of the plugin here, into the events of the pod. */
function describeEnvironment(env: ReadonlyMap<string, string>): string {
  const names = [...env.keys()].filter((name) => name.startsWith('CNI_')).toSorted();
  return `map[${names.map((name) => `${name}:${env.get(name) ?? ''}`).join(' ')}]`;
}

function readPod(args: CniArgs, key: string): string {
  const value = new Map(args).get(key) ?? '';
  if (value === '') throw refused(`missing ${key}`);
  return value;
}

function checkNames(containerId: string, interfaceName: string, hostVeth: string): void {
  validateContainerId(containerId);
  validateInterfaceName(interfaceName);
  if (hostVeth !== '') validateInterfaceName(hostVeth);
}

function toEnvironment(
  env: ReadonlyMap<string, string>,
  args: CniArgs,
  interfaceName: string,
): PluginRequest['environment'] {
  const all = new Map([...env, ['CNI_ARGS', formatCniArgs(args)], ['CNI_IFNAME', interfaceName]]);
  return carried.flatMap((name) => {
    const value = all.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

function refused(message: string, cause?: unknown): PodwireError {
  return new PodwireError('REQUEST_INVALID', message, { cause });
}
