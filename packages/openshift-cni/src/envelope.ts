/** The JSON of a request. Go's decoder reads null as absent, and so does this. */

/** `{"env": {NAME: VALUE}, "config": BASE64, "hostVeth": NAME}` */
export interface Envelope {
  readonly env: ReadonlyMap<string, string>;
  /** Standard input of the plugin. */
  readonly config: Uint8Array;
  /** Empty: there is none. */
  readonly hostVeth: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** RFC 4648 §4, with padding. `Buffer` would read anything. */
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Other keys are ignored. @throws Error that names the key */
export function readEnvelope(value: unknown): Envelope {
  const from = toObject(value ?? {}, 'the request');
  const variables = Object.entries(toObject(from['env'] ?? {}, 'env'));
  return {
    env: new Map(variables.map(([name, text]) => [name, toVariable(text, `env.${name}`)])),
    config: toBytes(toText(from['config'] ?? '', 'config')),
    hostVeth: toText(from['hostVeth'] ?? '', 'hostVeth'),
  };
}

function toObject(value: unknown, name: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new Error(`${name} is no object`);
}

function toText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`${name} is no string`);
}

/** No variable of a process holds a zero byte; a path would end there for the kernel. */
function toVariable(value: unknown, name: string): string {
  const text = toText(value ?? '', name);
  if (text.includes('\0')) throw new Error(`${name} holds a zero byte`);
  return text;
}

function toBytes(text: string): Uint8Array {
  if (text.length % 4 === 0 && base64.test(text)) return Buffer.from(text, 'base64');
  throw new Error('config is no base64 text');
}
