/**
 * A pod (v1) as Podwire works with it: read, defaulted and validated. Names and meaning are those of the Kubernetes API;
 * what the pod agent has no use for is kept under its own name and passed on. A field without `?` is always there,
 * since defaulting has put it in.
 */

export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: PodMetadata;
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export interface PodMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly resourceVersion?: string;
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';
export type DnsPolicy = 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  readonly volumes: readonly Volume[];
  readonly restartPolicy: RestartPolicy;
  readonly terminationGracePeriodSeconds: number;
  readonly dnsPolicy: DnsPolicy;
  readonly dnsConfig?: DnsConfig;
  readonly hostAliases: readonly { readonly ip: string; readonly hostnames: readonly string[] }[];
  readonly hostNetwork: boolean;
  readonly hostPID: boolean;
  readonly hostIPC: boolean;
  readonly shareProcessNamespace: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly nodeName: string;
  readonly runtimeClassName?: string;
  readonly securityContext: PodSecurityContext;
  readonly imagePullSecrets: readonly { readonly name: string }[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  /** Everything else of the API's PodSpec: tolerations, affinity, priority and so on. */
  readonly [further: string]: unknown;
}

export interface DnsConfig {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly { readonly name: string; readonly value?: string }[];
}

export interface PodSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly fsGroup?: number;
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
  readonly seccompProfile?: SeccompProfile;
}

export interface SeccompProfile {
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost';
  readonly localhostProfile?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env: readonly EnvironmentVariable[];
  readonly envFrom: readonly {
    readonly prefix?: string;
    readonly configMapRef?: { readonly name: string; readonly optional?: boolean };
  }[];
  readonly ports: readonly ContainerPort[];
  readonly resources: {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
  };
  readonly volumeMounts: readonly VolumeMount[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: ProbeAction; readonly preStop?: ProbeAction };
  readonly imagePullPolicy: PullPolicy;
  readonly securityContext: ContainerSecurityContext;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: 'File' | 'FallbackToLogsOnError';
  /** Only of an init container: `Always` makes it a sidecar, which runs beside the others. */
  readonly restartPolicy?: 'Always';
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

export type PortProtocol = 'TCP' | 'UDP' | 'SCTP';

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol: PortProtocol;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly: boolean;
  /** `None`, `HostToContainer`, `Bidirectional`. */
  readonly mountPropagation?: string;
  /** `Disabled`, `IfPossible`, `Enabled`. */
  readonly recursiveReadOnly?: string;
}

export interface ContainerSecurityContext {
  readonly privileged?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: SeccompProfile;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: '' | 'Memory'; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  /** A ConfigMap that stands in a manifest file beside the pod, or as a directory of files. */
  readonly configMap?: {
    readonly name: string;
    readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
    readonly defaultMode?: number;
    readonly optional?: boolean;
  };
}

/** Exactly one of the actions. */
export interface ProbeAction {
  readonly exec?: { readonly command: readonly string[] };
  readonly httpGet?: {
    readonly path: string;
    /** A number, or the name of a port of the container. */
    readonly port: number | string;
    readonly host?: string;
    readonly scheme: 'HTTP' | 'HTTPS';
    readonly httpHeaders: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly grpc?: { readonly port: number; readonly service: string };
}

export interface Probe extends ProbeAction {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  readonly terminationGracePeriodSeconds?: number;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface PodStatus {
  readonly phase: PodPhase;
  readonly conditions: readonly PodCondition[];
  readonly reason?: string;
  readonly message?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly podIPs: readonly { readonly ip: string }[];
  readonly qosClass?: 'Guaranteed' | 'Burstable' | 'BestEffort';
  readonly startTime?: string;
  readonly initContainerStatuses: readonly ContainerStatus[];
  readonly containerStatuses: readonly ContainerStatus[];
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}

/** `NAMESPACE/NAME`, for people. */
export function podName(pod: Pick<Pod, 'metadata'>): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`;
}

/** Annotations that the pod agent itself writes; they never make a pod different. */
export const localAnnotations = {
  source: 'kubernetes.io/config.source',
  seen: 'kubernetes.io/config.seen',
  mirror: 'kubernetes.io/config.mirror',
  hash: 'kubernetes.io/config.hash',
  /** File or URL of the manifest; ours. */
  origin: 'podwire.io/origin',
} as const;
