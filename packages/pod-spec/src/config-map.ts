/** ConfigMaps that stand in manifests: there is no API server to ask for them. */
import type { Field } from './field.js';
import { configKeyRule } from '@podwire/apimachinery';
import { flag, mapOf, type Maybe, object, optional, type Reader, text, withDefault } from './readers.js';
import { readMetadata } from './pod-shape.js';

export interface ConfigMap {
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
  /** Base64, as in the manifest; checked. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** As the API server; it keeps them out of etcd that way, and here they stay in memory. */
const mostBytes = 1024 * 1024;

function checkKey(field: Field, key: string): void {
  if (key.length > configKeyRule.longest || !configKeyRule.pattern.test(key)) {
    field.complain(`the key must be made of ${configKeyRule.words}`);
  }
}

const base64: Maybe<string> = (field) => {
  const value = text(field)?.replace(/\s/g, '');
  if (value === undefined || /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) {
    return value;
  }
  field.complain('must be base64');
  return undefined;
};

const shape = object(
  {
    metadata: readMetadata,
    data: mapOf(withDefault(text, ''), checkKey),
    binaryData: mapOf(withDefault(base64, ''), checkKey),
    immutable: optional(flag),
  },
  { kept: ['apiVersion', 'kind'] },
);

export const readConfigMap: Reader<ConfigMap> = (field) => {
  const { metadata, data, binaryData } = shape(field);
  for (const key of Object.keys(binaryData).filter((each) => Object.hasOwn(data, each))) {
    field.at('binaryData').at(key).complain('stands in data too');
  }
  const size = [...Object.values(data), ...Object.values(binaryData)].reduce(
    (sum, value) => sum + Buffer.byteLength(value),
    0,
  );
  if (size > mostBytes) field.complain('is larger than 1 MiB');
  return { namespace: metadata.namespace, name: metadata.name, data, binaryData };
};
