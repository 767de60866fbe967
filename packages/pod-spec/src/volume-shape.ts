/** Volumes of a pod. Podwire has those that need nothing but the node itself and the manifests. */
import type { Field } from './field.js';
import type { Volume } from './pod.js';
import { configKeyRule, labelRule, subdomainRule } from '@podwire/apimachinery';
import {
  flag,
  integer,
  listOf,
  type Maybe,
  name,
  object,
  oneOf,
  optional,
  quantity,
  required,
  text,
  withDefault,
} from './readers.js';

/** Read, write and execute for owner, group and others. */
const fileMode = integer(0, 0o777);

/** Below the volume, never out of it. */
export const pathWithin: Maybe<string> = (field) => {
  const value = text(field);
  if (value?.startsWith('/') === true) field.complain(`must not begin with /, is ${JSON.stringify(value)}`);
  if (value?.split('/').includes('..') === true)
    field.complain(`must not contain .., is ${JSON.stringify(value)}`);
  return value;
};

/** Names with two dots in front belong to the links by which a ConfigMap is replaced as a whole. */
const itemPath: Maybe<string> = (field) => {
  const value = pathWithin(field);
  if (value?.startsWith('..') === true && !value.split('/').includes('..')) {
    field.complain(`must not begin with .., is ${JSON.stringify(value)}`);
  }
  return value;
};

const emptyDir = object({ medium: oneOf('', 'Memory'), sizeLimit: quantity });

const hostPath = object({
  path: required(withoutUpwards, '/'),
  type: oneOf(
    '',
    'DirectoryOrCreate',
    'Directory',
    'FileOrCreate',
    'File',
    'Socket',
    'CharDevice',
    'BlockDevice',
  ),
});

function withoutUpwards(field: Field): string | undefined {
  const value = text(field);
  if (value?.split('/').includes('..') === true)
    field.complain(`must not contain .., is ${JSON.stringify(value)}`);
  return value;
}

const configMap = object({
  name: required(name(subdomainRule), ''),
  items: optional(
    listOf(
      object({
        key: required(name(configKeyRule), ''),
        path: required(itemPath, ''),
        mode: fileMode,
      }),
    ),
  ),
  defaultMode: withDefault(fileMode, 0o644),
  optional: flag,
});

const sources = {
  emptyDir: optional(emptyDir),
  hostPath: optional(hostPath),
  configMap: optional(configMap),
};

const others = {
  api: 'secret projected downwardAPI persistentVolumeClaim ephemeral csi',
  remote:
    'nfs iscsi rbd cephfs cinder fc flexVolume flocker glusterfs gcePersistentDisk awsElasticBlockStore azureDisk azureFile vsphereVolume quobyte photonPersistentDisk portworxVolume scaleIO storageos gitRepo image',
};
const advice = 'Podwire has emptyDir, hostPath and configMap';
const refused: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(others)
    .flatMap((words) => words.split(' '))
    .map((kind) => [kind, advice]),
);

const volumeShape = object({ name: required(name(labelRule), ''), ...sources }, { refused, toldLater: true });

/** One without any source is an emptyDir, as the API has it. */
export function readVolume(field: Field): Volume {
  const kinds = [...Object.keys(sources), ...Object.keys(refused)];
  const present = field.keys().filter((key) => kinds.includes(key));
  if (present.length > 1) field.complain(`must have one source, has ${present.join(' and ')}`);
  const volume = volumeShape(field);
  return field.keys().every((key) => key === 'name') ? { ...volume, emptyDir: {} } : volume;
}
