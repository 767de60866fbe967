/** Names of pods of a testbed, and facts that policy selects them by, as people write them. Pure. */
import { PodwireError } from '@podwire/errors';

export interface PodPort {
  readonly name: string;
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly port: number;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** `annotationBytes`: as Kubernetes has it. */
const most = { labels: 256, ports: 256, annotationBytes: 256 << 10 } as const;
/** Namespaces (RFC 1123). */
const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The file that pins the network namespace has both names, so a pod's may not have the 253 characters of Kubernetes. */
const podPattern = /^[a-z0-9]([a-z0-9.-]{0,188}[a-z0-9])?$/;
const labelPrefix = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const labelName = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** IANA service names, as Kubernetes has them for ports. */
const portName = /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;

/** @param text `NAMESPACE/NAME`, or `NAME` of the namespace `default`. @throws PodwireError REQUEST_INVALID */
export function readPodName(text: string): PodName {
  const [namespace = '', name = '', ...more] = text.includes('/') ? text.split('/') : ['default', text];
  if (more.length > 0) refuse(`${quote(text)} is no pod: write NAMESPACE/NAME`);
  checkPodName({ namespace, name });
  return { namespace, name };
}

/** @throws PodwireError REQUEST_INVALID */
export function checkPodName({ namespace, name }: PodName): void {
  if (!dnsLabel.test(namespace))
    refuse(`${quote(namespace)} is no namespace: up to 63 of a–z, 0–9 and dashes`);
  if (!podPattern.test(name)) refuse(`${quote(name)} is no name of a pod: up to 190 of a–z, 0–9, - and .`);
}

/** @param texts `KEY=VALUE`; the value may be empty. @throws PodwireError REQUEST_INVALID */
export function readLabels(texts: readonly string[]): Readonly<Record<string, string>> {
  if (texts.length > most.labels) refuse(`a pod has at most ${most.labels} labels`);
  const labels = readPairs(texts, 'label');
  for (const [key, value] of labels) {
    checkKey(key, 'label');
    if (value !== '' && !labelName.test(value))
      refuse(`${quote(value)} is no value of a label: up to 63 of letters, digits, -, _ and .`);
  }
  return Object.fromEntries(labels);
}

/** @param texts `KEY=VALUE`; the value may be any text. @throws PodwireError REQUEST_INVALID */
export function readAnnotations(texts: readonly string[]): Readonly<Record<string, string>> {
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (size > most.annotationBytes) refuse('annotations of a pod have at most 256 KiB');
  const annotations = readPairs(texts, 'annotation');
  for (const key of annotations.keys()) checkKey(key, 'annotation');
  return Object.fromEntries(annotations);
}

/** Annotations of a pod that are set, and those that go: undefined. */
export type AnnotationChanges = Readonly<Record<string, string | undefined>>;

/** @param texts `KEY=VALUE`, or `KEY-` for one that goes. @throws PodwireError REQUEST_INVALID */
export function readAnnotationChanges(texts: readonly string[]): AnnotationChanges {
  const isRemoval = (text: string): boolean => !text.includes('=') && text.endsWith('-');
  const removals = texts.filter(isRemoval).map((text) => text.slice(0, -1));
  for (const key of removals) checkKey(key, 'annotation');
  const put = readAnnotations(texts.filter((text) => !isRemoval(text)));
  const both = removals.find((key, at) => Object.hasOwn(put, key) || removals.indexOf(key) !== at);
  if (both !== undefined) refuse(`the annotation ${both} is given twice`);
  return { ...put, ...Object.fromEntries(removals.map((key) => [key, undefined])) };
}

type Pair = 'label' | 'annotation';

function readPairs(texts: readonly string[], what: Pair): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined) refuse(`${quote(text)} is no ${what}: write KEY=VALUE`);
    if (pairs.has(key)) refuse(`the ${what} ${key} is given twice`);
    pairs.set(key, value);
  }
  return pairs;
}

function checkKey(key: string, what: Pair): void {
  const at = key.indexOf('/');
  const prefixed = at >= 0;
  if ((prefixed && !labelPrefix.test(key.slice(0, at))) || !labelName.test(key.slice(at + 1)))
    refuse(
      `${quote(key)} is no key of ${articles[what]} ${what}: [PREFIX/]NAME, the name up to 63 of letters, digits, -, _ and .`,
    );
}

const articles = { label: 'a', annotation: 'an' } as const;

/** @param texts `NAME:PROTOCOL:NUMBER`. @throws PodwireError REQUEST_INVALID */
export function readPorts(texts: readonly string[]): readonly PodPort[] {
  if (texts.length > most.ports) refuse(`a pod has at most ${most.ports} named ports`);
  const ports = texts.map(readPort);
  const keys = ports.map(({ name, protocol }) => `${name}:${protocol}`);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) refuse(`the port ${twice} is given twice`);
  return ports;
}

function readPort(text: string): PodPort {
  const [name = '', protocol = '', number = '', ...more] = text.split(':');
  const lower = protocol.toLowerCase();
  const port = /^\d{1,5}$/.test(number) ? Number(number) : 0;
  if (more.length > 0 || !isProtocol(lower) || port < 1 || port > 65_535)
    refuse(`${quote(text)} is no port: write NAME:PROTOCOL:NUMBER, with tcp, udp or sctp and 1 to 65535`);
  if (name.length > 15 || !portName.test(name))
    refuse(`${quote(name)} is no name of a port: up to 15 of a–z, 0–9 and dashes, with a letter`);
  return { name, protocol: lower, port };
}

const isProtocol = (text: string): text is PodPort['protocol'] => ['tcp', 'udp', 'sctp'].includes(text);

/** A long text would hide what is said about it. */
const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function refuse(message: string): never {
  throw new PodwireError('REQUEST_INVALID', message, { action: null });
}
