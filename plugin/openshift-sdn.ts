/**
 * openshift-sdn in JavaScript: the same program as openshift-sdn.c, which says what it is for, for machines without a C
 * compiler. One suite tests both programs. The bundle has no import and no require, as podwire-cni.ts.
 */
import { exchange } from './exchange.js';
import { Failure, printOutcome } from './failure.js';
import { LIMIT } from './http.js';
import { indent } from './indent.js';
import { type Json, NO_OBJECT, readObject, toJson } from './json.js';
import { codeOf, nameError, readEnvironment, readInput, tryWrite } from './streams.js';
import { readVersion } from './version.js';

declare const RUN_DIRECTORY: string;

const fs = process.getBuiltinModule('node:fs');

const SOCKET = `${RUN_DIRECTORY}/socket`;
const CONFIG = `${RUN_DIRECTORY}/config.json`;

/** The original's error code for everything but versions. */
const CODE_FAILED = 100;
const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1'];

const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map([
  ['', ['CNI_COMMAND']],
  ['ADD', ['CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH']],
  ['DEL', ['CNI_IFNAME', 'CNI_PATH']],
  ['VERSION', []],
]);

// ---- what is read before the node is asked

function checkEnvironment(command: string): void {
  const names = REQUIRED.get(command);
  if (names === undefined) throw new Failure(CODE_FAILED, `unknown CNI_COMMAND: ${command}`);
  const missing = names.filter((name) => !process.env[name]);
  for (const name of missing) tryWrite(2, Buffer.from(`${name} env variable missing\n`));
  if (missing.length > 0) throw new Failure(CODE_FAILED, 'required env variables missing');
}

function readNetworkConfig(): Buffer {
  let input: Buffer;
  try {
    input = readInput(LIMIT + 1);
  } catch (error) {
    throw new Failure(CODE_FAILED, `error reading from stdin: ${nameError(error)}`);
  }
  if (input.length > LIMIT)
    throw new Failure(CODE_FAILED, `the network configuration is longer than ${LIMIT} bytes`);
  return input;
}

/** An object, or a failure that ends with the reason. */
function readObjectOr(text: string, message: string): Json {
  const object = readObject(text);
  if (object === undefined) throw new Failure(CODE_FAILED, `${message}${NO_OBJECT}`);
  return object;
}

/** The version of the configuration. */
const checkVersion = (input: string): string =>
  readVersion(readObjectOr(input, 'decoding version from network config: '), VERSIONS, CODE_FAILED);

function readNodeConfig(): string {
  let content: Buffer;
  try {
    content = fs.readFileSync(CONFIG);
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new Failure(CODE_FAILED, 'OpenShift SDN network process is not (yet?) available');
    throw new Failure(CODE_FAILED, `could not read config file "${CONFIG}": ${nameError(error)}`);
  }
  if (content.length <= LIMIT) return content.toString();
  throw new Failure(CODE_FAILED, `could not read config file "${CONFIG}": it is longer than ${LIMIT} bytes`);
}

/**
 * The agent has made the file, so what is in it is its own; but an agent that is not ready, or a broken file, ends the ADD
 * here.
 */
const checkNodeConfig = (): void =>
  void readObjectOr(readNodeConfig(), `could not parse config file "${CONFIG}": `);

// ---- the conversation

function splitPair(pair: Buffer): readonly [name: Buffer, value: Buffer] {
  const at = pair.indexOf('=');
  return [pair.subarray(0, at), pair.subarray(at + 1)];
}

/** Each name once, the first of several, by the bytes of their names, as Go sorts. */
function sortEnvironment(): (readonly [name: Buffer, value: Buffer])[] {
  const pairs = readEnvironment()
    .map(splitPair)
    .toSorted(([one], [other]) => Buffer.compare(one, other));
  return pairs.filter(([name], index) => !pairs[index - 1]?.[0].equals(name));
}

function buildBody(input: Buffer): string {
  const env = sortEnvironment().map((pair) => pair.map((part) => toJson(part.toString())).join(':'));
  return `{"env":{${env.join(',')}},"config":"${input.toString('base64')}"}`;
}

async function ask(input: Buffer): Promise<string> {
  const body = buildBody(input);
  const head = ['POST / HTTP/1.1', 'Host: dummy', 'Content-Type: application/json'];
  const ends = [`Content-Length: ${Buffer.byteLength(body)}`, 'Connection: keep-alive'];
  const answer = await exchange(SOCKET, [...head, ...ends], body);
  if (typeof answer === 'string') throw new Failure(CODE_FAILED, answer);
  if (answer.status === '200') return answer.text;
  throw new Failure(CODE_FAILED, `CNI request failed with status ${answer.status}: '${answer.text}'`);
}

// ---- the result

/** Pods of OpenShift SDN have one IPv4 address. */
function isOneAddress(ips: unknown): boolean {
  return Array.isArray(ips) && ips.length === 1 && (ips[0] as Json | null)?.['version'] === '4';
}

/**
 * The result under the version of the configuration. Versions below 0.3.0 have one form, and so have those from there on.
 */
function renderResult(text: string, version: string): string {
  const result = readObjectOr(text, `failed to unmarshal response '${text}': `);
  const hasAddress = version < '0.3.0' ? 'ip4' in result : isOneAddress(result['ips']);
  if (!hasAddress) throw new Failure(CODE_FAILED, `Unexpected IPAM result: '${text}'`);
  return indent(text, version);
}

// ---- commands

/** Returns what is to be printed. */
async function run(command: string): Promise<string> {
  checkEnvironment(command);
  if (command === 'VERSION') return `${toJson({ cniVersion: '0.3.1', supportedVersions: VERSIONS })}\n`;
  const input = readNetworkConfig();
  const version = checkVersion(input.toString());
  if (command === 'ADD') checkNodeConfig();
  const answer = await ask(input);
  return command === 'ADD' ? renderResult(answer, version) : '';
}

printOutcome(run(process.env['CNI_COMMAND'] ?? ''), CODE_FAILED);
