/**
 * Rules between the fields of a pod, as the API server has them when a pod is created (`pkg/apis/core/validation` of
 * Kubernetes), and those that kubelet adds when it admits one. Values that were refused already are empty here and skipped.
 */
import { parseQuantity, type Path } from '@podwire/apimachinery';
import { checkContainer, isSidecar } from './check-container.js';
import { type Entry, reportDoubles } from './doubles.js';
import type { Report } from './field.js';
import type { Container, Pod, PodSpec } from './pod.js';
import { dottedSysctl, sysctlOwner } from './sysctl-names.js';

/** Complains about everything that does not fit together. Paths begin at the pod. */
export function checkPod({ metadata, spec }: Pod, report: Report): void {
  checkAnnotations(metadata.annotations, report);
  reportDoubles(nameEntries(spec), 'a container', report);
  const volumes = spec.volumes.map(({ name }, index) => entry(name, ['spec', 'volumes', index, 'name']));
  reportDoubles(volumes, 'a volume', report);
  for (const { container, path, isInit } of containersOf(spec))
    checkContainer(container, spec, path, isInit, report);
  checkHostPorts(spec, report);
  checkDns(spec, report);
  checkSysctls(spec, report);
  if (spec.hostPID && spec.shareProcessNamespace) {
    report(['spec', 'shareProcessNamespace'], 'must not be true beside hostPID, which shares all processes');
  }
}

interface PlacedContainer {
  readonly container: Container;
  readonly path: Path;
  readonly isInit: boolean;
}

function containersOf(spec: PodSpec): PlacedContainer[] {
  const place = (kind: 'containers' | 'initContainers'): PlacedContainer[] =>
    spec[kind].map((container, index) => ({
      container,
      path: ['spec', kind, index],
      isInit: kind === 'initContainers',
    }));
  return [...place('initContainers'), ...place('containers')];
}

const entry = (key: string, path: Path): Entry => ({ key, path });

function nameEntries(spec: PodSpec): Entry[] {
  return containersOf(spec).map(({ container, path }) => entry(container.name, [...path, 'name']));
}

/** The limits of kubelet: 1 kbit/s and 1 Pbit/s (`pkg/util/bandwidth`). */
const leastRate = 1_000n;
const mostRate = 10n ** 15n;
/** All keys and values of a pod's annotations together. */
const mostAnnotationBytes = 256 * 1024;

function checkAnnotations(annotations: Readonly<Record<string, string>>, report: Report): void {
  for (const direction of ['ingress', 'egress']) {
    const key = `kubernetes.io/${direction}-bandwidth`;
    const rate = Object.hasOwn(annotations, key) ? annotations[key]! : undefined;
    if (rate !== undefined) checkRate(rate, ['metadata', 'annotations', key], report);
  }
  const bytes = Object.entries(annotations).flat().join('');
  if (Buffer.byteLength(bytes) > mostAnnotationBytes) {
    report(['metadata', 'annotations'], 'are larger than 256 KiB together');
  }
}

function checkRate(text: string, path: Path, report: Report): void {
  const rate = parseQuantity(text);
  if (rate === undefined) {
    report(path, `must be a quantity in bits per second such as 10M, is ${JSON.stringify(text)}`);
  } else if (rate < leastRate || rate > mostRate) {
    report(path, `must lie between 1k and 1P bits per second, is ${text}`);
  }
}

/** Containers of the same time share the node's ports; plain init containers run one by one, before the others. */
function checkHostPorts(spec: PodSpec, report: Report): void {
  const together = containersOf(spec).filter(({ container, isInit }) => !isInit || isSidecar(container));
  const alone = containersOf(spec).filter(({ container, isInit }) => isInit && !isSidecar(container));
  for (const group of [together, ...alone.map((each) => [each])]) {
    const taken = new Map<string, string>();
    for (const each of group) checkPortsOf(each, taken, report);
  }
}

function checkPortsOf(
  { container, path }: PlacedContainer,
  taken: Map<string, string>,
  report: Report,
): void {
  for (const [index, { protocol, hostPort, hostIP = '' }] of container.ports.entries()) {
    if (hostPort === undefined) continue;
    const key = `${protocol} ${hostPort} ${hostIP}`;
    const first = taken.get(key);
    if (first === undefined) taken.set(key, container.name);
    else
      report(
        [...path, 'ports', index, 'hostPort'],
        `${protocol} port ${hostPort} is asked for by container ${first} already`,
      );
  }
}

const mostNameservers = 3;
const mostSearches = 32;
const mostSearchLength = 2048;

function checkDns({ dnsPolicy, dnsConfig }: PodSpec, report: Report): void {
  const path = ['spec', 'dnsConfig'];
  const { nameservers = [], searches = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    report([...path, 'nameservers'], 'must have one at least, since dnsPolicy is None');
  }
  if (nameservers.length > mostNameservers) {
    report([...path, 'nameservers'], `must not be more than ${mostNameservers}, are ${nameservers.length}`);
  }
  if (searches.length > mostSearches) {
    report([...path, 'searches'], `must not be more than ${mostSearches}, are ${searches.length}`);
  }
  const { length } = searches.join(' ');
  if (length > mostSearchLength) {
    report(
      [...path, 'searches'],
      `must not be longer than ${mostSearchLength} characters together, are ${length}`,
    );
  }
}

/** Whose namespace a setting belongs to; one that belongs to the node is not the pod's to change. */
function checkSysctls(spec: PodSpec, report: Report): void {
  const sysctls = spec.securityContext.sysctls ?? [];
  const path: Path = ['spec', 'securityContext', 'sysctls'];
  const dotted = sysctls.map(({ name }) => dottedSysctl(name));
  reportDoubles(
    dotted.map((name, index) => entry(name, [...path, index, 'name'])),
    'a setting',
    report,
  );
  for (const [index, name] of dotted.entries()) {
    const owner = name === '' ? undefined : sysctlOwner(name, spec);
    if (owner !== undefined) report([...path, index, 'name'], `${name} belongs to the node: ${owner}`);
  }
}
