import { busyboxImage } from '@podwire/testkit/containerd';

/** The parts of a pod of the API that these tests look at. */
export interface ApiPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly hostIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly ApiCondition[];
    readonly containerStatuses?: readonly ApiContainerStatus[];
  };
}

export interface ApiCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ApiContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly image: string;
  readonly state: {
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly exitCode: number; readonly reason?: string };
  };
}

export interface WebPod {
  readonly name: string;
  /** Text of its answer; its name when absent. */
  readonly text?: string;
  readonly hostPort?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** seconds */
  readonly grace?: number;
  /** The same requests and limits: `{ cpu: '100m', memory: '32Mi' }`. */
  readonly limits?: Readonly<Record<string, string>>;
  /** Does nothing on SIGTERM: it lives until its grace period is over. */
  readonly isStubborn?: boolean;
  /** A directory of the node in which it leaves a file with its name on SIGTERM. */
  readonly marks?: string;
}

/** A web server on port 80. It lives in `/tmp`, so that it is the same with an image and with the machine's files. */
export function webPod({
  name,
  text = name,
  hostPort,
  labels = {},
  grace = 2,
  isStubborn = false,
  limits,
  marks,
}: WebPod): Manifest {
  const script = [
    isStubborn
      ? 'trap "" TERM'
      : `trap "${marks === undefined ? '' : `echo ${text} > /marks/${name}; `}exit 0" TERM`,
    'mkdir -p /tmp/www',
    `echo ${text} > /tmp/www/index.html`,
    'busybox httpd -f -p 80 -h /tmp/www &',
    `echo ${text} serves`,
    isStubborn ? 'while :; do sleep 1; done' : 'wait',
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name, ...labels } },
    spec: {
      terminationGracePeriodSeconds: grace,
      dnsPolicy: 'Default',
      ...(marks === undefined ? {} : { volumes: [{ name: 'marks', hostPath: { path: marks } }] }),
      containers: [
        {
          name: 'web',
          image: busyboxImage,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', script.join('; ').replace('&;', '&')],
          ports: [{ containerPort: 80, ...(hostPort === undefined ? {} : { hostPort }) }],
          ...(marks === undefined ? {} : { volumeMounts: [{ name: 'marks', mountPath: '/marks' }] }),
          ...(limits === undefined ? {} : { resources: { requests: limits, limits } }),
          readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 1 },
        },
      ],
    },
  };
}

export interface Manifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}
