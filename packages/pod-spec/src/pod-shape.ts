/** A pod's own fields; see the other shapes for its parts. */
import type { DnsConfig, Pod, PodMetadata, PodSecurityContext, PodSpec, PodStatus } from './pod.js';
import {
  address,
  furtherSecurity,
  onlyWord,
  readContainer,
  securityFields,
  userId,
} from './container-shape.js';
import type { Field } from './field.js';
import {
  isQualifiedName,
  labelRule,
  labelValueRule,
  searchRule,
  subdomainRule,
  sysctlRule,
  uidRule,
} from '@podwire/apimachinery';
import {
  emptyAsAbsent,
  flag,
  integer,
  listOf,
  mapOf,
  type Maybe,
  mostInt32,
  name,
  object,
  oneOf,
  optional,
  type Reader,
  required,
  text,
  withDefault,
} from './readers.js';
import { readVolume } from './volume-shape.js';

function checkQualifiedName(field: Field, key: string): void {
  if (!isQualifiedName(key))
    field.complain('must be a name such as app or example.com/app (at most 63 letters, digits and - _ .)');
}

/** Capitals are accepted before the slash of an annotation, as in the API. */
function checkAnnotationName(field: Field, key: string): void {
  checkQualifiedName(field, key.toLowerCase());
}

const seconds = integer(0, Number.MAX_SAFE_INTEGER);

const metadata = object(
  {
    name: required(name(subdomainRule), ''),
    namespace: withDefault(name(labelRule), 'default'),
    uid: withDefault(name(uidRule), ''),
    labels: mapOf(withDefault(name(labelValueRule), ''), checkQualifiedName),
    annotations: mapOf(withDefault(text, ''), checkAnnotationName),
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: seconds,
    resourceVersion: text,
  },
  {
    kept: [
      'generateName',
      'selfLink',
      'generation',
      'ownerReferences',
      'finalizers',
      'clusterName',
      'managedFields',
    ],
  },
) satisfies Reader<PodMetadata>;

export const readMetadata: Reader<PodMetadata> = metadata;

const dnsConfig = object({
  nameservers: listOf(required(address, '')),
  searches: listOf(required(name(searchRule), '')),
  options: listOf(object({ name: required(text, ''), value: text })),
}) satisfies Reader<DnsConfig>;

const securityContext = object(
  {
    ...securityFields,
    supplementalGroups: optional(listOf(required(userId, 0))),
    fsGroup: userId,
    supplementalGroupsPolicy: onlyWord('Merge', 'the groups of the image are kept', 'Strict'),
    sysctls: optional(listOf(object({ name: required(name(sysctlRule), ''), value: withDefault(text, '') }))),
  },
  {
    ...furtherSecurity,
    kept: [...furtherSecurity.kept, 'fsGroupChangePolicy', 'seLinuxChangePolicy'],
  },
) satisfies Reader<PodSecurityContext>;

/** Accepted as long as it says what is so anyway. */
function onlyFlag(value: boolean, why: string): Maybe<boolean> {
  return (field) => {
    const read = flag(field);
    if (read !== undefined && read !== value) field.refuse(why);
    return read;
  };
}

const os: Maybe<{ readonly name: 'linux' }> = optional(object({ name: required(oneOf('linux'), 'linux') }));

/** A pod of the API keeps those that it was given while it ran; they are not started again, by no agent. */
const ephemeralContainers: Maybe<never> = (field) => {
  if (field.context.strict && !field.absent) {
    field.refuse('they are put into a running pod, never into a manifest');
  }
  return undefined;
};

const specShape = object(
  {
    containers: listOf(readContainer),
    initContainers: listOf(readContainer),
    volumes: listOf(readVolume),
    restartPolicy: withDefault(oneOf('Always', 'OnFailure', 'Never'), 'Always'),
    terminationGracePeriodSeconds: withDefault(seconds, 30),
    dnsPolicy: withDefault(
      oneOf('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
      'ClusterFirst',
    ),
    dnsConfig: optional(dnsConfig),
    hostAliases: listOf(
      object({
        ip: required(address, ''),
        hostnames: listOf(required(name(subdomainRule), '')),
      }),
    ),
    hostNetwork: withDefault(flag, false),
    hostPID: withDefault(flag, false),
    hostIPC: withDefault(flag, false),
    shareProcessNamespace: withDefault(flag, false),
    hostname: emptyAsAbsent(name(labelRule)),
    subdomain: emptyAsAbsent(name(labelRule)),
    nodeName: withDefault(emptyAsAbsent(name(subdomainRule)), ''),
    runtimeClassName: emptyAsAbsent(name(subdomainRule)),
    securityContext,
    imagePullSecrets: listOf(object({ name: withDefault(text, '') })),
    setHostnameAsFQDN: flag,
    activeDeadlineSeconds: integer(1, mostInt32),
    readinessGates: optional(listOf(object({ conditionType: required(text, '') }))),
    hostUsers: onlyFlag(true, 'pods share the users of the node'),
    os,
    ephemeralContainers,
  },
  {
    kept: (
      'affinity automountServiceAccountToken enableServiceLinks nodeSelector overhead preemptionPolicy priority ' +
      'priorityClassName schedulerName schedulingGates serviceAccount serviceAccountName tolerations ' +
      'topologySpreadConstraints'
    ).split(' '),
    refused: {
      resourceClaims: 'there are no devices to claim',
      resources: 'write them to the containers',
      hostnameOverride: 'use hostname',
      workloadRef: 'pods run one by one',
    },
  },
) satisfies Reader<PodSpec>;

/** On the node's network a port is the node's, whether or not it says so. */
export const readSpec: Reader<PodSpec> = (field) => {
  const containers = field.at('containers');
  if (!field.absent && containers.absent) containers.complain('is missing');
  if (Array.isArray(containers.value) && containers.value.length === 0) {
    containers.complain('must have one container at least');
  }
  const spec = specShape(field);
  if (!spec.hostNetwork) return spec;
  const publish = ({ ports, ...rest }: PodSpec['containers'][number]) => ({
    ...rest,
    ports: ports.map((port) => ({ hostPort: port.containerPort, ...port })),
  });
  return {
    ...spec,
    containers: spec.containers.map(publish),
    initContainers: spec.initContainers.map(publish),
  };
};

/** Of a pod that nothing has been done for yet. */
export const pendingStatus: PodStatus = {
  phase: 'Pending',
  conditions: [],
  podIPs: [],
  initContainerStatuses: [],
  containerStatuses: [],
};

const podShape = object(
  { metadata: readMetadata, spec: readSpec },
  { kept: ['apiVersion', 'kind', 'status'] },
);

/** The status that a manifest may have is left out: what it says is of another life of the pod. */
export const readPod: Reader<Pod> = (field) => {
  if (field.at('spec').absent) field.at('spec').complain('is missing');
  const { metadata: head, spec } = podShape(field);
  return { apiVersion: 'v1', kind: 'Pod', metadata: head, spec, status: pendingStatus };
};
