/** Rules between the fields of one container, and between it and its pod. */
import { parseQuantity, type Path, suggest } from '@podwire/apimachinery';
import type { Report } from './field.js';
import type { Container, PodSpec, Probe, ProbeAction } from './pod.js';
import { reportDoubles } from './doubles.js';

/** An init container that goes on running beside the others. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

export function checkContainer(
  container: Container,
  spec: PodSpec,
  path: Path,
  isInit: boolean,
  report: Report,
): void {
  checkRole(container, path, isInit, report);
  checkPorts(container, spec.hostNetwork, path, report);
  checkMounts(container, spec, path, report);
  checkResources(container, path, report);
  checkPrivileges(container, path, report);
  checkPropagation(container, path, report);
  checkNamedPorts(container, path, report);
}

/** Probes and hooks need a container that is meant to stay. */
function checkRole(container: Container, path: Path, isInit: boolean, report: Report): void {
  if (!isInit && container.restartPolicy !== undefined) {
    report([...path, 'restartPolicy'], 'only an init container may have its own, which makes it a sidecar');
  }
  if (!isInit || isSidecar(container)) return;
  for (const key of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[key] !== undefined) {
      report([...path, key], 'an init container must not have it, unless its restartPolicy is Always');
    }
  }
}

function checkPorts({ ports }: Container, hostNetwork: boolean, path: Path, report: Report): void {
  const at = (index: number, key: string): Path => [...path, 'ports', index, key];
  reportDoubles(
    ports.map(({ name = '' }, index) => ({ key: name, path: at(index, 'name') })),
    'a port',
    report,
  );
  if (!hostNetwork) return;
  for (const [index, { containerPort, hostPort }] of ports.entries()) {
    if (hostPort !== containerPort && containerPort !== 0) {
      report(
        at(index, 'hostPort'),
        `must be ${containerPort} as containerPort, since hostNetwork is true, is ${hostPort}`,
      );
    }
  }
}

function checkMounts({ volumeMounts }: Container, { volumes }: PodSpec, path: Path, report: Report): void {
  const at = (index: number, key: string): Path => [...path, 'volumeMounts', index, key];
  const names = volumes.map(({ name }) => name);
  for (const [index, { name }] of volumeMounts.entries()) {
    if (name === '' || names.includes(name)) continue;
    report(at(index, 'name'), `there is no volume ${JSON.stringify(name)}${suggest(name, names)}`);
  }
  const places = volumeMounts.map(({ mountPath }, index) => ({
    key: mountPath,
    path: at(index, 'mountPath'),
  }));
  reportDoubles(places, 'a mount at', report);
}

/** Checks that the API server makes as well. */
function checkPropagation({ volumeMounts, securityContext }: Container, path: Path, report: Report): void {
  for (const [index, mount] of volumeMounts.entries()) {
    const { mountPropagation = 'None', recursiveReadOnly = 'Disabled', readOnly } = mount;
    const at = (key: string): Path => [...path, 'volumeMounts', index, key];
    if (mountPropagation === 'Bidirectional' && securityContext.privileged !== true)
      report(at('mountPropagation'), 'Bidirectional needs a container with securityContext.privileged');
    if (recursiveReadOnly === 'Disabled') continue;
    if (!readOnly) report(at('recursiveReadOnly'), 'needs readOnly: true');
    if (mountPropagation !== 'None') report(at('recursiveReadOnly'), 'cannot be had with mountPropagation');
  }
}

/** Thousandths are the smallest part of a CPU. */
const parts = 1000n;

function checkResources({ resources }: Container, path: Path, report: Report): void {
  const { limits = {}, requests = {} } = resources;
  for (const [key, requested] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, key) ? limits[key] : undefined;
    if (limit === undefined || amountOf(requested) <= amountOf(limit)) continue;
    report([...path, 'resources', 'requests', key], `must not be above the limit ${limit}, is ${requested}`);
  }
}

function amountOf(text: string): bigint {
  return parseQuantity(text, parts) ?? 0n;
}

function checkPrivileges({ securityContext }: Container, path: Path, report: Report): void {
  const { allowPrivilegeEscalation, privileged, capabilities } = securityContext;
  if (allowPrivilegeEscalation !== false) return;
  const at = [...path, 'securityContext', 'allowPrivilegeEscalation'];
  if (privileged === true) report(at, 'must not be false beside privileged');
  if (capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    report(at, 'must not be false beside the capability CAP_SYS_ADMIN');
  }
}

/** Kubernetes finds out at each probe; here it is known before the pod starts. */
function checkNamedPorts(container: Container, path: Path, report: Report): void {
  const names = container.ports.flatMap(({ name }) => name ?? []);
  for (const [at, action] of actionsOf(container)) {
    for (const kind of ['httpGet', 'tcpSocket'] as const) {
      const port = action[kind]?.port;
      if (typeof port !== 'string' || names.includes(port)) continue;
      const advice = suggest(port, names);
      report([...path, ...at, kind, 'port'], `the container has no port ${JSON.stringify(port)}${advice}`);
    }
  }
}

function actionsOf(container: Container): [Path, ProbeAction | Probe][] {
  const { lifecycle = {} } = container;
  const probes = (['livenessProbe', 'readinessProbe', 'startupProbe'] as const).flatMap((key) =>
    container[key] === undefined ? [] : [[[key], container[key]] as [Path, Probe]],
  );
  const hooks = (['postStart', 'preStop'] as const).flatMap((key) =>
    lifecycle[key] === undefined ? [] : [[['lifecycle', key], lifecycle[key]] as [Path, ProbeAction]],
  );
  return [...probes, ...hooks];
}
