/**
 * The CNI plugin of OpenShift SDN by its original name, for nodes whose network configuration names it. It asks the node
 * over the original's socket (packages/openshift-cni is the other side), with the original's words, codes and output.
 *
 * The original makes the veth pair before it asks, and sets up the pod afterwards. Here the agent does both, so an ADD
 * carries no `hostVeth`, and the answer is the result as it stands.
 *
 * The bundle has no import and no require, as podwire-cni.ts.
 */
import type { IncomingMessage } from 'node:http';
import { readInput, tryWrite } from './streams.js';

declare const RUN_DIRECTORY: string;

const fs = process.getBuiltinModule('node:fs');
const http = process.getBuiltinModule('node:http');

const SOCKET = `${RUN_DIRECTORY}/socket`;
const CONFIG = `${RUN_DIRECTORY}/config.json`;
/** Of standard input and of an answer, in bytes. */
const LIMIT = 1024 * 1024;

/** The original's error code for everything but versions. */
const CODE = { failed: 100, incompatible: 1 } as const;
const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1'];
/** Of a configuration without one. */
const IMPLICIT_VERSION = '0.1.0';

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  ADD: ['CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_IFNAME', 'CNI_PATH'],
  VERSION: [],
};

type Json = Readonly<Record<string, unknown>>;

class Failure extends Error {
  readonly code: number;
  readonly details: string | undefined;
  constructor(message: string, code: number = CODE.failed, details?: string) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// ---- JSON as Go writes and reads it

/** Go escapes what is special in HTML, and two ends of line of JavaScript. */
const ESCAPED = new RegExp('[<>&\u2028\u2029]', 'g');

function toJson(value: unknown, indent?: number): string {
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, undefined, indent).replace(ESCAPED, escape);
}

function readObject(text: string): Json {
  const value = JSON.parse(text) as unknown;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Error('it is no object');
}

// ---- the request

function checkEnvironment(command: string): void {
  const names = command === '' ? ['CNI_COMMAND'] : (REQUIRED[command] ?? []);
  const missing = names.filter((name) => !process.env[name]);
  for (const name of missing) tryWrite(2, Buffer.from(`${name} env variable missing\n`));
  if (missing.length > 0) throw new Failure('required env variables missing');
  if (REQUIRED[command] === undefined) throw new Failure(`unknown CNI_COMMAND: ${command}`);
}

/** The version of the configuration. */
function checkVersion(input: string): string {
  let version: unknown;
  try {
    version = readObject(input)['cniVersion'] ?? '';
  } catch (error) {
    throw new Failure(`decoding version from network config: ${reasonOf(error)}`);
  }
  const stated = version === '' ? IMPLICIT_VERSION : version;
  if (typeof stated === 'string' && VERSIONS.includes(stated)) return stated;
  const supported = VERSIONS.map((each) => `"${each}"`).join(' ');
  const details = `config is ${JSON.stringify(stated)}, plugin supports [${supported}]`;
  throw new Failure('incompatible CNI versions', CODE.incompatible, details);
}

/** The agent has made it, so what is in it is its own; but an agent that is not ready, or a broken file, ends the ADD here. */
function checkNodeConfig(): void {
  let text: string;
  try {
    text = fs.readFileSync(CONFIG, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Failure('OpenShift SDN network process is not (yet?) available');
    throw new Failure(`could not read config file "${CONFIG}": ${reasonOf(error)}`);
  }
  try {
    readObject(text);
  } catch (error) {
    throw new Failure(`could not parse config file "${CONFIG}": ${reasonOf(error)}`);
  }
}

/** The original sends its whole environment. No server looks at the rest of it, and it may hold what is secret. */
const isCarried = (name: string): boolean => /^(CNI_.*|TRACEPARENT|TRACESTATE|BAGGAGE)$/.test(name);

function buildRequest(input: Buffer): string {
  const names = Object.keys(process.env).filter(isCarried).toSorted();
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return toJson({ env, ...(input.length === 0 ? {} : { config: input.toString('base64') }) });
}

// ---- the conversation

/** Waits for as long as the runtime lets it: only that knows its deadline, and ends the plugin then. */
function post(body: string): Promise<IncomingMessage> {
  const headers = {
    Host: 'dummy',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath: SOCKET, method: 'POST', path: '/', headers }, resolve);
    request.once('error', reject);
    request.end(body);
  });
}

async function ask(input: Buffer): Promise<string> {
  const response = await post(buildRequest(input)).catch((error: unknown) => {
    throw new Failure(`failed to send CNI request: ${reasonOf(error)}`);
  });
  const text = await readAnswer(response).catch((error: unknown) => {
    throw new Failure(`failed to read CNI result: ${reasonOf(error)}`);
  });
  if (response.statusCode === 200) return text;
  throw new Failure(`CNI request failed with status ${response.statusCode}: '${text}'`);
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LIMIT) throw new Error(`it is longer than ${LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The result under the version of the configuration. Versions below 0.3.0 have one form, and so have those from there on. */
function readResult(text: string, version: string): Json {
  let result: Json;
  try {
    result = readObject(text);
  } catch (error) {
    throw new Failure(`failed to unmarshal response '${text}': ${reasonOf(error)}`);
  }
  const hasAddress = version < '0.3.0' ? 'ip4' in result : isOneAddress(result['ips']);
  if (!hasAddress) throw new Failure(`Unexpected IPAM result: '${text}'`);
  return { ...result, cniVersion: version };
}

/** Pods of OpenShift SDN have one IPv4 address. */
function isOneAddress(ips: unknown): boolean {
  return Array.isArray(ips) && ips.length === 1 && (ips[0] as Json | null)?.['version'] === '4';
}

// ---- commands

/** One byte more than the limit tells that it is exceeded. */
function readNetworkConfig(): Buffer {
  const input = readInput(LIMIT + 1);
  if (input.length > LIMIT) throw new Failure(`the network configuration is longer than ${LIMIT} bytes`);
  return input;
}

/** Returns what is to be printed. */
async function run(command: string): Promise<string> {
  checkEnvironment(command);
  if (command === 'VERSION') return `${toJson({ cniVersion: '0.3.1', supportedVersions: VERSIONS })}\n`;
  const input = readNetworkConfig();
  const version = checkVersion(input.toString('utf8'));
  if (command === 'ADD') checkNodeConfig();
  const answer = await ask(input);
  return command === 'ADD' ? toJson(readResult(answer, version), 4) : '';
}

function describeFailure(error: unknown): string {
  const { code = CODE.failed, details } = error as Partial<Failure>;
  return toJson({ code, msg: reasonOf(error), ...(details === undefined ? {} : { details }) }, 4);
}

run(process.env['CNI_COMMAND'] ?? '').then(
  (text) => tryWrite(1, Buffer.from(text)),
  (error: unknown) => {
    process.exitCode = 1;
    tryWrite(1, Buffer.from(describeFailure(error)));
  },
);
