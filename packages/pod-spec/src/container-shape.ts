/** Containers of a pod, one field after the other; rules between fields are in the checks. */
import { tryParseAddress } from '@podwire/addresses';
import type { Container, ContainerPort, EnvironmentVariable, PullPolicy, SeccompProfile } from './pod.js';
import type { Field } from './field.js';
import {
  configKeyRule,
  environmentRule,
  isQualifiedName,
  labelRule,
  portNameRule,
  subdomainRule,
  suggest,
} from '@podwire/apimachinery';
import { lifecycle, probe } from './probe-shape.js';
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
  quantity,
  type Reader,
  required,
  text,
  withDefault,
} from './readers.js';
import { pathWithin } from './volume-shape.js';

export const userId = integer(0, mostInt32);

export const address: Maybe<string> = (field) => {
  const value = text(field);
  if (value === undefined || value === '' || tryParseAddress(value) !== undefined) return value;
  field.complain(`must be an IP address, is ${JSON.stringify(value)}`);
  return undefined;
};

/** 0 is how the API writes "none". */
const hostPort: Maybe<number> = (field) => (field.value === 0 ? undefined : integer(1, 65_535)(field));

const portShape = object({
  name: emptyAsAbsent(name(portNameRule)),
  containerPort: required(integer(1, 65_535), 0),
  hostPort,
  hostIP: address,
  protocol: withDefault(oneOf('TCP', 'UDP', 'SCTP'), 'TCP'),
});

const port: Reader<ContainerPort> = (field) => {
  const { hostIP = '', ...rest } = portShape(field);
  return hostIP === '' ? rest : { ...rest, hostIP };
};

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const fieldPath: Maybe<string> = (field) => {
  const value = text(field);
  if (value === undefined || fieldPaths.includes(value)) return value;
  const keyed = /^metadata\.(?:labels|annotations)\['([^']+)'\]$/.exec(value);
  if (keyed !== null && isQualifiedName(keyed[1]!)) return value;
  const known = `${fieldPaths.join(', ')}, metadata.labels['KEY'] or metadata.annotations['KEY']`;
  field.complain(`must be ${known}, is ${JSON.stringify(value)}`);
  return undefined;
};

const noSecrets = 'there are no secrets without an API server; use a configMap or a hostPath';

const valueSources = {
  fieldRef: optional(object({ fieldPath: required(fieldPath, '') }, { kept: ['apiVersion'] })),
  configMapKeyRef: optional(
    object({
      name: required(name(subdomainRule), ''),
      key: required(name(configKeyRule), ''),
      optional: flag,
    }),
  ),
};
const refusedSources = {
  secretKeyRef: noSecrets,
  resourceFieldRef: 'write the value',
  fileKeyRef: 'use a configMap',
};

const valueFrom: Reader<NonNullable<EnvironmentVariable['valueFrom']>> = (field) => {
  const kinds = [...Object.keys(valueSources), ...Object.keys(refusedSources)];
  const present = field.keys().filter((key) => kinds.includes(key));
  if (present.length !== 1) field.complain(`must have one of ${Object.keys(valueSources).join(', ')}`);
  return object(valueSources, { refused: refusedSources, toldLater: true })(field);
};

const variableShape = object({
  name: required(name(environmentRule), ''),
  value: text,
  valueFrom: optional(valueFrom),
});

const variable: Reader<EnvironmentVariable> = (field) => {
  const read = variableShape(field);
  if (read.value !== undefined && read.value !== '' && read.valueFrom !== undefined) {
    field.at('valueFrom').complain('must not stand beside a value');
  }
  return read;
};

const envFrom = object(
  {
    prefix: emptyAsAbsent(name(environmentRule)),
    configMapRef: optional(object({ name: required(name(subdomainRule), ''), optional: flag })),
  },
  { refused: { secretRef: noSecrets }, toldLater: true },
);

const envFromOne: typeof envFrom = (field) => {
  if (field.keys().every((key) => key === 'prefix')) field.complain('must have configMapRef');
  return envFrom(field);
};

const mountPath: Maybe<string> = (field) => {
  const value = text(field);
  if (value?.includes(':') === true) field.complain(`must not contain ":", is ${JSON.stringify(value)}`);
  return value;
};

const volumeMount = object(
  {
    name: required(text, ''),
    mountPath: required(mountPath, ''),
    subPath: pathWithin,
    readOnly: withDefault(flag, false),
    mountPropagation: oneOf('None', 'HostToContainer', 'Bidirectional'),
    recursiveReadOnly: oneOf('Disabled', 'IfPossible', 'Enabled'),
  },
  { refused: { subPathExpr: 'write the path into subPath' } },
);

/** Those of devices and huge pages would have to come from somewhere. */
function checkResourceName(field: Field, key: string): void {
  const own = ['cpu', 'memory', 'ephemeral-storage'];
  if (own.includes(key)) return;
  if (!field.context.strict) field.refuse('there is no such resource here');
  else field.complain(`unknown resource; there are ${own.join(', ')}${suggest(key, own)}`);
}

const amounts = optional(mapOf(required(quantity, '0'), checkResourceName));
const resourcesShape = object(
  { limits: amounts, requests: amounts },
  { refused: { claims: 'there are no devices to claim' } },
);

/** A resource that has a limit and no request is requested in full, as the API does it. */
const resources: Reader<Container['resources']> = (field) => {
  const read = resourcesShape(field);
  return read.limits === undefined ? read : { ...read, requests: { ...read.limits, ...read.requests } };
};

const windows = { windowsOptions: 'it is for Windows' };

const capabilities = object({
  add: optional(listOf(required(text, ''))),
  drop: optional(listOf(required(text, ''))),
});

const seccompShape = object({
  type: required(oneOf('RuntimeDefault', 'Unconfined', 'Localhost'), 'RuntimeDefault'),
  localhostProfile: pathWithin,
});

const seccompProfile: Reader<SeccompProfile> = (field) => {
  const read = seccompShape(field);
  const profile = field.at('localhostProfile');
  if (read.type === 'Localhost' && profile.absent) profile.complain('is missing');
  if (read.type !== 'Localhost' && !profile.absent) profile.complain('is only for the type Localhost');
  return read;
};

export const securityFields = {
  runAsUser: userId,
  runAsGroup: userId,
  runAsNonRoot: flag,
  seccompProfile: optional(seccompProfile),
};
export const furtherSecurity = {
  kept: ['seLinuxOptions', 'appArmorProfile'],
  refused: windows,
  toldLater: true,
};

/** Of these words only the first one can be honoured. */
export function onlyWord<const Word extends string>(
  usual: Word,
  why: string,
  ...others: readonly Word[]
): Maybe<Word> {
  const known = oneOf(usual, ...others);
  return (field) => {
    const read = known(field);
    if (read !== undefined && read !== usual) field.refuse(why);
    return read;
  };
}

const securityContext = object(
  {
    ...securityFields,
    privileged: flag,
    readOnlyRootFilesystem: flag,
    allowPrivilegeEscalation: flag,
    capabilities: optional(capabilities),
    procMount: onlyWord('Default', 'what is hidden of /proc stays hidden', 'Unmasked'),
  },
  furtherSecurity,
);

const image: Maybe<string> = (field) => {
  const value = text(field);
  if (value === undefined || value.trim() === value) return value;
  field.complain(`must not have spaces around it, is ${JSON.stringify(value)}`);
  return undefined;
};

const texts = optional(listOf(withDefault(text, '')));

const containerShape = object(
  {
    name: required(name(labelRule), ''),
    image: required(image, ''),
    command: texts,
    args: texts,
    workingDir: text,
    env: listOf(variable),
    envFrom: listOf(envFromOne),
    ports: listOf(port),
    resources,
    volumeMounts: listOf(volumeMount),
    livenessProbe: optional(probe('liveness')),
    readinessProbe: optional(probe('readiness')),
    startupProbe: optional(probe('startup')),
    lifecycle: optional(lifecycle),
    imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    securityContext,
    stdin: withDefault(flag, false),
    stdinOnce: withDefault(flag, false),
    tty: withDefault(flag, false),
    terminationMessagePath: withDefault(text, '/dev/termination-log'),
    terminationMessagePolicy: withDefault(oneOf('File', 'FallbackToLogsOnError'), 'File'),
    restartPolicy: oneOf('Always'),
  },
  {
    kept: ['resizePolicy'],
    refused: {
      volumeDevices: 'a volume is a directory here',
      restartPolicyRules: 'the restart policy of the pod holds',
    },
  },
);

export const readContainer: Reader<Container> = (field) => {
  const { imagePullPolicy, ...read } = containerShape(field);
  return { ...read, imagePullPolicy: imagePullPolicy ?? defaultPullPolicy(read.image) };
};

/** `latest` may be another image tomorrow; an image by digest never is. */
export function defaultPullPolicy(image: string): PullPolicy {
  const [reference = '', digest] = image.split('@');
  const tag = /:([^:/]+)$/.exec(reference)?.[1] ?? (digest === undefined ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}
