import type { Container, Pod, PodMetadata, PodSpec } from '@podwire/pod-spec';

export function makeContainer(changes: Partial<Container> = {}): Container {
  return {
    name: 'main',
    image: 'busybox',
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
    ...changes,
  };
}

export function makePod(spec: Partial<PodSpec> = {}, metadata: Partial<PodMetadata> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: '0b6f0f0e-6a53-4a6f-a3c5-6a1c7d1f0b11',
      labels: {},
      annotations: {},
      ...metadata,
    },
    spec: {
      containers: [makeContainer()],
      initContainers: [],
      volumes: [],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      hostAliases: [],
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      shareProcessNamespace: false,
      nodeName: 'node-1',
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
