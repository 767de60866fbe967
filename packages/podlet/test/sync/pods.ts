import type { Container, Pod, PodSpec } from '@podwire/pod-spec';

export function aContainer(name: string, more: Partial<Container> = {}): Container {
  return {
    name,
    image: 'example.test/web:1',
    command: ['sleep'],
    env: [],
    envFrom: [],
    ports: [],
    resources: {},
    volumeMounts: [],
    imagePullPolicy: 'IfNotPresent',
    securityContext: {},
    stdin: false,
    stdinOnce: false,
    tty: false,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...more,
  };
}

export interface PodOptions {
  readonly name?: string;
  readonly uid?: string;
  readonly source?: string;
  readonly deleting?: boolean;
  readonly spec?: Partial<PodSpec>;
}

export function aPod({
  name = 'web',
  uid = `uid-${name}`,
  source,
  deleting,
  spec = {},
}: PodOptions = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid,
      labels: {},
      annotations: source === undefined ? {} : { 'kubernetes.io/config.source': source },
      ...(deleting === true
        ? { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }
        : {}),
    },
    spec: {
      containers: [aContainer('main')],
      initContainers: [],
      volumes: [],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      hostAliases: [],
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      shareProcessNamespace: false,
      nodeName: 'node1',
      securityContext: {},
      imagePullSecrets: [],
      ...spec,
    },
    status: {
      phase: 'Pending',
      conditions: [],
      podIPs: [],
      initContainerStatuses: [],
      containerStatuses: [],
    },
  };
}
