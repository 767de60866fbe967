import { NamespaceMode, Protocol, SecurityProfile_ProfileType } from '@podwire/cri';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '@podwire/pod-spec';
import { buildSandboxConfig, podHostname } from '../../src/runtime-config/sandbox-config.js';
import { makeContainer, makePod } from './make-pod.js';

const node = {
  name: 'node-1',
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConfText: 'nameserver 192.0.2.1\n',
};
const directories = { root: '/var/lib/podwire', logs: '/var/log/pods' };
const build = (pod: Pod, attempt = 0) => buildSandboxConfig(pod, attempt, node, directories);
const options = (pod: Pod) => build(pod).linux?.securityContext?.namespaceOptions;

test('a pod in full', () => {
  const pod = makePod(
    {
      containers: [
        makeContainer({
          ports: [{ containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1', protocol: 'UDP' }],
        }),
      ],
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 2000,
        fsGroup: 3000,
        supplementalGroups: [4000, 3000],
        sysctls: [
          { name: 'net.core.somaxconn', value: '1024' },
          { name: 'kernel/shm_rmid_forced', value: '1' },
        ],
      },
    },
    {
      labels: { app: 'web', 'io.kubernetes.pod.name': 'liar' },
      annotations: { 'kubernetes.io/ingress-bandwidth': '1M' },
    },
  );
  expect(build(pod, 3)).toEqual({
    metadata: { name: 'web', namespace: 'shop', uid: pod.metadata.uid, attempt: 3 },
    hostname: 'web',
    logDirectory: `/var/log/pods/shop_web_${pod.metadata.uid}`,
    dnsConfig: {
      servers: ['10.96.0.10'],
      searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
      options: ['ndots:5'],
    },
    portMappings: [{ protocol: Protocol.UDP, containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' }],
    labels: {
      app: 'web',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': pod.metadata.uid,
    },
    annotations: {
      'kubernetes.io/ingress-bandwidth': '1M',
      'podwire.io/pod-facts': JSON.stringify({
        labels: { app: 'web', 'io.kubernetes.pod.name': 'liar' },
        ports: [],
        serviceAccount: 'default',
      }),
    },
    linux: {
      cgroupParent: '',
      sysctls: { 'net.core.somaxconn': '1024', 'kernel.shm_rmid_forced': '1' },
      securityContext: {
        namespaceOptions: {
          network: NamespaceMode.POD,
          pid: NamespaceMode.CONTAINER,
          ipc: NamespaceMode.POD,
          targetId: '',
        },
        runAsUser: { value: 1000n },
        runAsGroup: { value: 2000n },
        supplementalGroups: [3000n, 4000n],
        readonlyRootfs: false,
        privileged: false,
        seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault, localhostRef: '' },
        seccompProfilePath: 'runtime/default',
      },
    },
  });
});

describe('namespaces', () => {
  const { NODE, POD, CONTAINER } = NamespaceMode;
  test.each([
    [{}, { network: POD, pid: CONTAINER, ipc: POD }],
    [{ hostNetwork: true }, { network: NODE, pid: CONTAINER, ipc: POD }],
    [
      { hostPID: true, hostIPC: true },
      { network: POD, pid: NODE, ipc: NODE },
    ],
    [{ shareProcessNamespace: true }, { network: POD, pid: POD, ipc: POD }],
  ])('%j', (spec, expected) => expect(options(makePod(spec))).toMatchObject(expected));
});

test('on the host’s network the host keeps its name, and no port is mapped', () => {
  const containers = [makeContainer({ ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }] })];
  expect(build(makePod({ hostNetwork: true, containers }))).toMatchObject({ hostname: '', portMappings: [] });
});

test('a privileged container needs a privileged sandbox', () => {
  const containers = [makeContainer({ securityContext: { privileged: true } })];
  expect(build(makePod({ containers })).linux?.securityContext?.privileged).toBe(true);
});

test('a group without a user is not passed on', () => {
  const { securityContext } = build(makePod({ securityContext: { runAsGroup: 7 } })).linux!;
  expect(securityContext).not.toHaveProperty('runAsGroup');
});

describe('host names', () => {
  test.each([
    ['web', undefined, 'web'],
    ['web', 'other', 'other'],
    [`${'a'.repeat(62)}-bc`, undefined, 'a'.repeat(62)],
    [`${'a'.repeat(60)}-.-bc`, undefined, 'a'.repeat(60)],
  ])('%s, %s', (name, hostname, expected) => {
    expect(podHostname(makePod(hostname === undefined ? {} : { hostname }, { name }))).toBe(expected);
  });

  test('are never longer than 63, never end in a dash or dot', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z.-]{0,120}$/), (name) => {
        expect(podHostname(makePod({}, { name }))).toMatch(/^[a-z]([a-z.-]{0,61}[a-z])?$/);
      }),
    );
  });

  test('are qualified where the pod asks for it', () => {
    const spec = { subdomain: 'db', setHostnameAsFQDN: true };
    expect(build(makePod(spec)).hostname).toBe('web.db.shop.svc.cluster.local');
    expect(build(makePod({ subdomain: 'db' })).hostname).toBe('web');
  });
});
