/**
 * kube-ovn in JavaScript: the same program as kube-ovn.c, which says what it is for, for machines without a C compiler.
 * One suite tests both programs. The bundle has no import and no require, as podwire-cni.ts.
 */
import { exchange } from './exchange.js';
import { Failure, printOutcome } from './failure.js';
import { type Answer, LIMIT } from './http.js';
import { isObject, type Json, NO_OBJECT, readObject, toJson, wellFormed } from './json.js';
import { LeaseFault, readLease, toResult } from './lease.js';
import { nameError, readInput } from './streams.js';
import { readVersion } from './version.js';

const TYPE = 'kube-ovn';
const USUAL_PROVIDER = 'ovn';
const PATH_LIMIT = 107;

/** `failed` is for whatever comes from Kube-OVN itself; the others are of Go's library of CNI 0.8.0. */
const CODE = { version: 1, container: 3, environment: 4, io: 5, decode: 6, config: 7, failed: 999 } as const;
const VERSIONS = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0'];

/** A letter or digit, then letters, digits, `_`, `.`, `-`: container ids and names of networks. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const NAME_LIMIT = 255;
const INTERFACE_LIMIT = 15;

const variable = (name: string): string => process.env[name] ?? '';

// ---- the environment

/** Names the variables that are missing for the commands that the original knows, in its order. */
function checkVariables(command: string): void {
  const ofAttachment = [
    'CNI_CONTAINERID',
    ...(command === 'DEL' ? [] : ['CNI_NETNS']),
    'CNI_IFNAME',
    'CNI_PATH',
  ];
  const isKnown = ['ADD', 'CHECK', 'DEL'].includes(command);
  const missing = ['CNI_COMMAND', ...(isKnown ? ofAttachment : [])].filter((name) => variable(name) === '');
  if (missing.length > 0)
    throw new Failure(CODE.environment, `required env variables [${missing.join(',')}] missing`);
}

function checkContainer(id: string): void {
  if (id === '') throw new Failure(CODE.container, 'missing containerID');
  if (!NAME.test(id)) throw new Failure(CODE.environment, 'invalid characters in containerID', id);
}

function checkInterface(name: string): void {
  const refuse = (problem: string, details?: string): never => {
    throw new Failure(CODE.environment, `interface name ${problem}`, details);
  };
  if (name === '') refuse('is empty');
  if (Buffer.byteLength(name) > INTERFACE_LIMIT)
    refuse('is too long', 'interface name should be less than 16 characters');
  if (name === '.' || name === '..') refuse('is . or ..');
  if (/[/: \t\n\v\f\r]/.test(name)) refuse('contains / or : or whitespace characters');
}

/** The value of a key of CNI_ARGS; the first that is not empty counts. */
function takeArgument(key: string): string {
  const args = variable('CNI_ARGS');
  if (args === '') throw new Failure(CODE.failed, 'CNI_ARGS is required');
  const pairs = args.split(';').filter((pair) => pair.startsWith(`${key}=`));
  const value = pairs.map((pair) => pair.slice(key.length + 1)).find((text) => text !== '');
  if (value === undefined) throw new Failure(CODE.failed, `${key} is required in CNI_ARGS`);
  return value;
}

// ---- the network configuration

interface Question {
  readonly type: string;
  readonly socket: string;
  readonly provider: string;
  readonly deviceId: string;
  readonly vfDriver: string;
  readonly routes: readonly object[] | null;
}

function readInputOrFail(): string {
  let input: Buffer;
  try {
    input = readInput(LIMIT + 1);
  } catch (error) {
    throw new Failure(CODE.io, `error reading from stdin: ${nameError(error)}`);
  }
  if (input.length <= LIMIT) return input.toString();
  throw new Failure(CODE.io, `the network configuration is longer than ${LIMIT} bytes`);
}

/** A configuration whose name is right. */
function readConfig(text: string): Json {
  const undecodable = 'error unmarshall network config: ';
  const config = readObject(text);
  if (config === undefined) throw new Failure(CODE.decode, `${undecodable}${NO_OBJECT}`);
  const name = config['name'] ?? '';
  if (name === '') throw new Failure(CODE.config, 'missing network name');
  if (typeof name !== 'string') throw new Failure(CODE.decode, `${undecodable}\`name\` is no string`);
  if (name.length <= NAME_LIMIT && NAME.test(name)) return config;
  throw new Failure(CODE.config, 'invalid characters found in network name', wellFormed(name));
}

const unloadable = (problem: string): Failure =>
  new Failure(CODE.failed, `failed to load netconf: ${problem}`);

function takeText(object: Json, name: string): string {
  const text = object[name] ?? '';
  if (typeof text !== 'string') throw unloadable(`\`${name}\` is no string`);
  return wellFormed(text);
}

/** Routes as the original reads them: null is a route without any text. */
function takeRoutes(config: Json): readonly object[] | null {
  const routes = config['routes'] ?? null;
  if (routes === null) return null;
  if (!Array.isArray(routes)) throw unloadable('`routes` is no list of objects');
  return routes.map((item: unknown) => {
    const route = item ?? {};
    if (!isObject(route)) throw unloadable('`routes` is no list of objects');
    return { dst: takeText(route, 'dst'), gw: takeText(route, 'gw') };
  });
}

/** A plugin of another type asks for addresses alone, and says in `ipam` where. */
function chooseSource(config: Json, type: string): Json {
  const ipam = config['ipam'] ?? undefined;
  if (type === TYPE || ipam === undefined) return config;
  if (!isObject(ipam)) throw unloadable('`ipam` is no object');
  return ipam;
}

function readQuestion(config: Json): Question {
  const type = takeText(config, 'type');
  const source = chooseSource(config, type);
  const question = {
    type,
    socket: takeText(source, 'server_socket'),
    provider: takeText(source, 'provider') || USUAL_PROVIDER,
    deviceId: takeText(config, 'deviceID'),
    vfDriver: takeText(config, 'vf_driver'),
    routes: takeRoutes(config),
  };
  if (question.socket === '') throw new Failure(CODE.failed, 'server_socket is required in cni.conf');
  return question;
}

// ---- the conversation

/** The keys come in the order of the original's client, which sorts them. */
function buildBody(question: Question): string {
  const [pod, namespace] = [takeArgument('K8S_POD_NAME'), takeArgument('K8S_POD_NAMESPACE')];
  return toJson({
    cni_type: question.type,
    container_id: variable('CNI_CONTAINERID'),
    deviceID: question.deviceId,
    if_name: variable('CNI_IFNAME'),
    net_ns: variable('CNI_NETNS'),
    pod_name: pod,
    pod_namespace: namespace,
    provider: question.provider,
    routes: question.routes,
    vf_driver: question.vfDriver,
  });
}

async function ask(path: string, question: Question): Promise<Answer> {
  const body = buildBody(question);
  if (Buffer.byteLength(question.socket) > PATH_LIMIT || question.socket.includes('\0'))
    throw new Failure(CODE.failed, 'server_socket must be a path of at most 107 bytes');
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const head = [`POST ${path} HTTP/1.1`, 'Host: dummy', length, 'Content-Type: application/json'];
  const answer = await exchange(question.socket, head, body);
  if (typeof answer === 'string') throw new Failure(CODE.failed, answer);
  return answer;
}

/** Has the `error` of an answer, or all of it where that is no text. */
function failureOf(what: string, { status, text }: Answer): Failure {
  const error = readObject(text)?.['error'];
  const shown = typeof error === 'string' ? wellFormed(error) : text;
  return new Failure(CODE.failed, `${what} ip return ${status} ${shown}`);
}

function renderResult(text: string, version: string): string {
  try {
    const response = readObject(text);
    if (response === undefined) throw new LeaseFault(NO_OBJECT);
    return toJson(toResult(readLease(response), version), 4);
  } catch (error) {
    if (!(error instanceof LeaseFault)) throw error;
    throw new Failure(CODE.failed, `failed to read the response '${text}': ${error.message}`);
  }
}

// ---- commands

async function add(config: Json, version: string): Promise<string> {
  const answer = await ask('/api/v1/add', readQuestion(config));
  if (answer.status !== '200') throw failureOf('request', answer);
  return renderResult(answer.text, version);
}

async function del(config: Json): Promise<string> {
  const answer = await ask('/api/v1/del', { ...readQuestion(config), routes: null, vfDriver: '' });
  if (answer.status !== '204') throw failureOf('delete', answer);
  return '';
}

/** There is no CHECK. Under 0.4.0, which has one, the original ends by a signal. */
function refuseCheck(version: string): never {
  const what = version === '0.4.0' ? 'plugin' : 'config';
  throw new Failure(CODE.version, `${what} version does not allow CHECK`);
}

/** Returns what is to be printed. */
async function run(command: string): Promise<string> {
  checkVariables(command);
  if (command === 'VERSION') return `${toJson({ cniVersion: '0.4.0', supportedVersions: VERSIONS })}\n`;
  const config = readConfig(readInputOrFail());
  checkContainer(variable('CNI_CONTAINERID'));
  checkInterface(variable('CNI_IFNAME'));
  if (!['ADD', 'CHECK', 'DEL'].includes(command))
    throw new Failure(CODE.environment, `unknown CNI_COMMAND: ${command}`);
  const version = readVersion(config, VERSIONS, CODE.decode);
  if (command === 'CHECK') refuseCheck(version);
  return command === 'ADD' ? add(config, version) : del(config);
}

printOutcome(run(variable('CNI_COMMAND')), CODE.failed);
