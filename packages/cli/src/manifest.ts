/**
 * Reads pod manifests as far as the network cares; the rest is left alone. What CNI gets of a pod is known to
 * `@podwire/pod-network/inputs`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { tryParseAddress } from '@podwire/addresses';
import type { Bandwidth, DnsCapability, PortMapping } from '@podwire/cni';
import { PodwireError, redactUrl } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { readBandwidth } from '@podwire/pod-network/inputs';
import { formatPath, labelRule, type NameRule, subdomainRule, uidRule } from '@podwire/apimachinery';
import { type ManifestDocument, openText } from '@podwire/apimachinery/documents';
import { Field, formatProblem, isManifestName, mustBe, refuseKind } from '@podwire/pod-spec';

export { type CniInputs, toCniInputs } from '@podwire/pod-network/inputs';

/** A pod as far as its network goes. */
export interface PodManifest {
  /** The file it stands in. */
  readonly file: string;
  /** Of the pod in it, from 1. */
  readonly line?: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Only ports that ask for one on the host. */
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  readonly dns?: DnsCapability;
}

/**
 * Reads the pods of YAML (or JSON) files, several documents each, and of directories of them; `-` is standard input.
 * ConfigMaps have no network and are passed over.
 * @throws PodwireError MANIFEST_INVALID with everything that is wrong in any of them, one a line
 */
export function readPodManifests(places: readonly string[]): PodManifest[] {
  const complaints: string[] = [];
  const pods = places.flatMap(listFiles).flatMap((file) => {
    const read = checkPodManifests(readText(file), file === '-' ? 'standard input' : file);
    complaints.push(...read.complaints);
    return read.pods;
  });
  complaints.push(...findDoubles(pods));
  if (complaints.length > 0) throw new PodwireError('MANIFEST_INVALID', complaints.join('\n'));
  return pods;
}

/** The files of a directory, as a pod agent reads them; anything else as it is. */
function listFiles(place: string): string[] {
  if (/^https?:\/\//.test(place)) {
    const action = `Pipe it in: curl ${redactUrl(place)} | podwire plan -`;
    throw new PodwireError('MANIFEST_INVALID', `${redactUrl(place)}: plan reads files only`, { action });
  }
  if (place === '-' || fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [place];
  const names = fs.readdirSync(place).filter(isManifestName).sort();
  return names.map((name) => path.join(place, name));
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new PodwireError('MANIFEST_INVALID', `${file}: cannot be read`, { cause });
  }
}

function findDoubles(pods: readonly PodManifest[]): string[] {
  const placeOf = ({ file, line }: PodManifest): string => (line === undefined ? file : `${file}:${line}`);
  return pods.flatMap((pod, index) => {
    const first = pods.findIndex(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
    if (first === index) return [];
    return [
      `${placeOf(pod)}: a second pod ${pod.namespace}/${pod.name}, after that in ${placeOf(pods[first]!)}`,
    ];
  });
}

/** The pods of a text and everything that is wrong with it; `file` is only for the words. */
export function checkPodManifests(text: string, file: string): { pods: PodManifest[]; complaints: string[] } {
  const { documents, problems } = openText(text);
  const complaints = problems.map(({ place, message }) => wordsFor(file, place, message));
  const present = documents.filter((each) => each !== undefined);
  if (present.length === 0 && problems.length === 0) complaints.push(`${file}: there is no pod in it`);
  const pods = present.flatMap((document) =>
    findPods(openField(document, file, complaints)).map((field) => ({
      ...readPod(field, file),
      ...compact({ line: document.locate(field.path)?.line }),
    })),
  );
  return { pods, complaints };
}

type Place = ReturnType<ManifestDocument['locate']>;

function wordsFor(origin: string, place: Place, message: string, field = ''): string {
  return formatProblem({ source: 'file', origin, ...place, field, message });
}

function openField(document: ManifestDocument, file: string, complaints: string[]): Field {
  return new Field(document.value, {
    strict: true,
    report: (path, message) =>
      complaints.push(wordsFor(file, document.locate(path), message, formatPath(path))),
  });
}

/** The pods of an object: itself, or the items of a list. Anything else is complained about once, not field by field. */
function findPods(object: Field, implied?: string): Field[] {
  if (typeof object.value !== 'object' || Array.isArray(object.value)) {
    object.complain('must be a map');
    return [];
  }
  const kind = object.at('kind').value ?? implied;
  switch (kind) {
    case 'Pod':
      if (implied === undefined || !object.at('apiVersion').absent)
        expectWord(object.at('apiVersion'), ['v1']);
      return [object];
    case 'List':
    case 'PodList':
      return object
        .at('items')
        .items()
        .flatMap((item) => findPods(item, kind === 'PodList' ? 'Pod' : undefined));
    case 'ConfigMap':
      return [];
    default:
      refuseKind(object.at('kind'));
      return [];
  }
}

function readPod(document: Field, file: string): PodManifest {
  const spec = document.at('spec');
  if (spec.at('hostNetwork').value === true) {
    spec.at('hostNetwork').complain('a pod on the network of its node has none of its own to plan');
  }
  const metadata = document.at('metadata');
  const uid = readName(metadata.at('uid'), uidRule);
  const annotations = readAnnotations(metadata.at('annotations'));
  const bandwidth = readRates(metadata.at('annotations'));
  const dns = readDns(spec.at('dnsConfig'));
  return {
    file,
    namespace: readName(metadata.at('namespace'), labelRule) ?? 'default',
    name: readName(metadata.at('name'), subdomainRule, true) ?? '',
    ...compact({ uid }),
    annotations,
    portMappings: readPorts(spec),
    ...compact({ bandwidth, dns }),
  };
}

function expectWord(field: Field, words: readonly string[]): void {
  if (!words.includes(field.value as string)) field.complain(mustBe(field, words));
}

function readName(field: Field, rule: NameRule, required = false): string | undefined {
  const text = readWords(field);
  if (text === undefined) {
    if (required && field.value === undefined) field.complain('is missing');
    return undefined;
  }
  if (text.length <= rule.longest && rule.pattern.test(text)) return text;
  field.complain(`must be made of ${rule.words}, is ${JSON.stringify(text)}`);
  return undefined;
}

function readWords(field: Field): string | undefined {
  if (field.value === undefined || typeof field.value === 'string') return field.value;
  field.complain(`must be text, is ${JSON.stringify(field.value)}; put it into quotes`);
  return undefined;
}

function readAnnotations(field: Field): Record<string, string> {
  const entries = field.keys().map((key) => [key, readWords(field.at(key)) ?? ''] as const);
  return Object.fromEntries(entries);
}

/** The rule is that of the network plugin manager; here it gets its place in the file. */
function readRates(annotations: Field): Bandwidth | undefined {
  const { bandwidth, problems } = readBandwidth(
    Object.fromEntries(annotations.keys().map((key) => [key, annotations.at(key).value])),
  );
  for (const { annotation, message } of problems) annotations.at(annotation).complain(message);
  return bandwidth;
}

function readPorts(spec: Field): PortMapping[] {
  const taken = new Map<string, string>();
  const ports = spec
    .at('containers')
    .items()
    .flatMap((container) => container.at('ports').items());
  return ports.flatMap((port) => {
    const mapping = readPort(port);
    if (mapping === undefined) return [];
    const { hostPort, protocol, hostIP = '' } = mapping;
    const key = `${protocol} ${hostPort} ${hostIP}`;
    const first = taken.get(key);
    if (first === undefined) taken.set(key, formatPath(port.path));
    else port.at('hostPort').complain(`${protocol} port ${hostPort} is asked for by ${first} already`);
    return [mapping];
  });
}

const portFields = ['name', 'containerPort', 'hostPort', 'hostIP', 'protocol'];
const protocols = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;

/** Undefined for a port that asks for none on the host, as kubelet and containerd drop it. */
function readPort(port: Field): PortMapping | undefined {
  for (const key of port.keys().filter((each) => !portFields.includes(each))) {
    port.at(key).complain(`unknown field; a port has ${portFields.join(', ')}`);
  }
  const containerPort = readPortNumber(port.at('containerPort'), 1);
  if (containerPort === undefined && port.at('containerPort').value === undefined) {
    port.at('containerPort').complain('is missing');
  }
  const hostPort = readPortNumber(port.at('hostPort'), 0);
  const protocol = readProtocol(port.at('protocol'));
  const hostIP = readHostIp(port.at('hostIP'));
  if (containerPort === undefined || hostPort === undefined || hostPort === 0) return undefined;
  return { hostPort, containerPort, protocol, ...compact({ hostIP }) };
}

/** Capitals in a manifest, small letters in the capability. */
function readProtocol(field: Field): PortMapping['protocol'] {
  if (field.value !== undefined) expectWord(field, Object.keys(protocols));
  return protocols[field.value as keyof typeof protocols] ?? 'tcp';
}

function readPortNumber(field: Field, least: number): number | undefined {
  const { value } = field;
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= 65_535)
    return value as number;
  field.complain(`must be a number from ${least} to 65535, is ${JSON.stringify(value)}`);
  return undefined;
}

function readHostIp(field: Field): string | undefined {
  const text = readWords(field);
  if (text === undefined || text === '') return undefined;
  if (tryParseAddress(text) !== undefined) return text;
  field.complain(`must be an IP address, is ${JSON.stringify(text)}`);
  return undefined;
}

/** `dnsConfig` in the words of the capability; the cluster's own resolver is kubelet's to add. */
function readDns(field: Field): DnsCapability | undefined {
  if (field.value === undefined) return undefined;
  const texts = (key: string): string[] =>
    field
      .at(key)
      .items()
      .flatMap((item) => readWords(item) ?? []);
  const servers = texts('nameservers');
  const searches = texts('searches');
  const options = field
    .at('options')
    .items()
    .flatMap((option) => readDnsOption(option));
  return {
    ...(servers.length === 0 ? {} : { servers }),
    ...(searches.length === 0 ? {} : { searches }),
    ...(options.length === 0 ? {} : { options }),
  };
}

function readDnsOption(option: Field): string[] {
  const name = readWords(option.at('name'));
  const value = readWords(option.at('value'));
  if (name === undefined) {
    option.at('name').complain('is missing');
    return [];
  }
  return [value === undefined ? name : `${name}:${value}`];
}
