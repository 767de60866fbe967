import { type CniArgs, parseCniArgs } from './args.js';
import { CniError, errorCodes } from './error.js';
import { type JsonLimits, parseJson, requestLimits } from './json.js';
import { validateContainerId, validateInterfaceName, validateNetworkName } from './names.js';
import { parseResult } from './result/parse.js';
import type { AnyResult } from './result/types.js';
import {
  array,
  boolean,
  type JsonObject,
  object,
  optional,
  readAs,
  record,
  required,
  string,
} from './shape.js';
import {
  type CniVersion,
  incompatibleVersion,
  implicitVersion,
  isAtLeast,
  isSupportedVersion,
  parseVersion,
  supportedVersions,
} from './version.js';

/** The operations of the specification (section 2, "CNI operations"). */
export const commands = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION'] as const;
export type Command = (typeof commands)[number];

/** Identifies an attachment together with its network (section 3, "Execution of Network Configurations"). */
export interface Attachment {
  readonly containerId: string;
  readonly interfaceName: string;
}

/**
 * The request configuration on standard input (section 3, "Deriving request configuration from plugin configuration").
 * The keys named here are checked; everything else is as it came.
 */
export interface RequestConfig extends JsonObject {
  readonly cniVersion: CniVersion;
  readonly name: string;
  readonly type?: string;
  readonly capabilities?: Readonly<Record<string, boolean>>;
  readonly ipam?: JsonObject & { readonly type?: string };
  /** Unread; see `parseRuntimeConfig`. */
  readonly runtimeConfig?: JsonObject;
}

interface ConfiguredRequest {
  readonly config: RequestConfig;
  /** The bytes of standard input, to be handed on to delegated plugins unchanged. */
  readonly stdin: Uint8Array;
  /** Directories of `CNI_PATH`. */
  readonly path: readonly string[];
}

export interface AttachmentRequest extends ConfiguredRequest, Attachment {
  readonly command: 'ADD' | 'DEL' | 'CHECK';
  /** Path of the network namespace; empty only for DEL, when the runtime has none any more. */
  readonly netns: string;
  readonly args: CniArgs;
  /** `CNI_NETNS_OVERRIDE`: the namespace may be the plugin's own. */
  readonly netnsOverride: boolean;
  /** The result of the plugin before (ADD), or the chain's final result (DEL, if it can be read, and CHECK). */
  readonly prevResult?: AnyResult;
}

export interface GcRequest extends ConfiguredRequest {
  readonly command: 'GC';
  /** Attachments that are still in use; everything else of the network is stale. Absent: the runtime sent no list. */
  readonly validAttachments?: readonly Attachment[];
}

export interface StatusRequest extends ConfiguredRequest {
  readonly command: 'STATUS';
}

export interface VersionRequest {
  readonly command: 'VERSION';
}

/** A checked request of any command. */
export type Request = AttachmentRequest | GcRequest | StatusRequest | VersionRequest;

/** Environment variables by name, or as the pairs a plugin sends over a socket; of two equal names the last counts. */
export type Environment = Readonly<Record<string, string | undefined>> | Iterable<readonly [string, string]>;

export interface ParseOptions {
  /** Versions the plugin speaks; by default all released ones. */
  readonly versions?: readonly string[];
  readonly limits?: JsonLimits;
}

const requiredVariables: Record<Command, readonly string[]> = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
  VERSION: [],
};

/** The first version that has a command. ADD and DEL are as old as the specification. */
const minimumVersion: Partial<Record<Command, CniVersion>> = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0' };

/**
 * Reads a CNI request as a plugin receives it: environment and standard input (specification, section 2). Pure: touches
 * neither files nor the namespace, whose existence is the caller's to check. For VERSION the input is not read.
 * @throws CniError code 4 for the environment (all missing variables in one error), 3 for an empty container id,
 *   6 for input that cannot be decoded, 7 for a configuration with a bad field, 1 for a version that is not in
 *   `versions` or is too old for the command.
 */
export function parseRequest(env: Environment, stdin: Uint8Array, options: ParseOptions = {}): Request {
  const variables = toMap(env);
  const command = readCommand(variables);
  requireVariables(command, variables);
  if (command === 'VERSION') return { command };
  if (command !== 'GC' && command !== 'STATUS') validateAttachment(variables);
  const config = parseRequestConfig(stdin, command, options);
  try {
    return buildRequest(command, variables, config, stdin);
  } catch (error) {
    throw CniError.from(error).withVersion(config.cniVersion);
  }
}

function toMap(env: Environment): ReadonlyMap<string, string> {
  const pairs =
    Symbol.iterator in env ? [...(env as Iterable<readonly [string, string]>)] : Object.entries(env);
  return new Map(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function readCommand(variables: ReadonlyMap<string, string>): Command {
  const text = variables.get('CNI_COMMAND') ?? '';
  if ((commands as readonly string[]).includes(text)) return text as Command;
  if (text === '') throw missing(['CNI_COMMAND']);
  // Runtimes recognise plugins older than VERSION by exactly this message.
  throw new CniError(errorCodes.invalidEnvironment, `unknown CNI_COMMAND: ${text}`);
}

function requireVariables(command: Command, variables: ReadonlyMap<string, string>): void {
  const absent = requiredVariables[command].filter((name) => (variables.get(name) ?? '') === '');
  if (absent.length > 0) throw missing(absent);
}

function missing(names: readonly string[]): CniError {
  return new CniError(
    errorCodes.invalidEnvironment,
    `required environment variables missing: ${names.join(', ')}`,
  );
}

function validateAttachment(variables: ReadonlyMap<string, string>): void {
  validateContainerId(variables.get('CNI_CONTAINERID') ?? '');
  validateInterfaceName(variables.get('CNI_IFNAME') ?? '');
}

/**
 * Decodes and checks the request configuration on its own: size, depth, JSON, name, version.
 * @throws CniError as {@link parseRequest}.
 */
export function parseRequestConfig(
  stdin: Uint8Array,
  command: Exclude<Command, 'VERSION'>,
  { versions = supportedVersions, limits = requestLimits }: ParseOptions = {},
): RequestConfig {
  const from = readAs(errorCodes.decodingFailure, 'network configuration', () =>
    object(parseJson(stdin, 'network configuration', limits), ''),
  );
  const cniVersion = checkVersion(from, command, versions);
  try {
    return checkFields(from, cniVersion);
  } catch (error) {
    throw CniError.from(error).withVersion(cniVersion);
  }
}

function checkVersion(from: JsonObject, command: Command, versions: readonly string[]): CniVersion {
  const stated = readAs(errorCodes.decodingFailure, 'network configuration', () =>
    optional(from, 'cniVersion', '', string),
  );
  const version = stated === undefined || stated === '' ? implicitVersion : stated;
  parseVersion(version);
  if (!versions.includes(version) || !isSupportedVersion(version))
    throw incompatibleVersion([version], versions);
  const least = minimumVersion[command];
  if (least === undefined || isAtLeast(version, least)) return version;
  throw new CniError(
    errorCodes.incompatibleVersion,
    `version ${version} of the configuration has no ${command}`,
    {
      details: `${command} came with version ${least}`,
      cniVersion: version,
    },
  );
}

function checkFields(from: JsonObject, cniVersion: CniVersion): RequestConfig {
  const checked = readAs(errorCodes.invalidNetworkConfig, 'network configuration', () => ({
    name: optional(from, 'name', '', string) ?? '',
    type: optional(from, 'type', '', string),
    capabilities: optional(from, 'capabilities', '', record(boolean)),
    ipam: optional(from, 'ipam', '', object),
    ipamType: optional(optional(from, 'ipam', '', object) ?? {}, 'type', 'ipam', string),
    runtimeConfig: optional(from, 'runtimeConfig', '', object),
  }));
  validateNetworkName(checked.name);
  return { ...withoutNulls(from), cniVersion, name: checked.name };
}

/** The keys whose type is promised must not be null afterwards; Go reads null as absent. */
function withoutNulls(from: JsonObject): JsonObject {
  const promised = ['type', 'capabilities', 'ipam', 'runtimeConfig'];
  if (!promised.some((key) => from[key] === null)) return from;
  return Object.fromEntries(
    Object.entries(from).filter(([key, value]) => value !== null || !promised.includes(key)),
  );
}

function buildRequest(
  command: Exclude<Command, 'VERSION'>,
  variables: ReadonlyMap<string, string>,
  config: RequestConfig,
  stdin: Uint8Array,
): Request {
  const common = { config, stdin, path: splitPath(variables.get('CNI_PATH') ?? '') };
  if (command === 'STATUS') return { command, ...common };
  if (command === 'GC') return { command, ...common, ...readValidAttachments(config) };
  return {
    command,
    ...common,
    containerId: variables.get('CNI_CONTAINERID') ?? '',
    interfaceName: variables.get('CNI_IFNAME') ?? '',
    netns: variables.get('CNI_NETNS') ?? '',
    args: parseCniArgs(variables.get('CNI_ARGS') ?? ''),
    netnsOverride: ['1', 'true'].includes((variables.get('CNI_NETNS_OVERRIDE') ?? '').toLowerCase()),
    ...readPrevResult(command, config),
  };
}

/** A DEL must succeed without a previous result (section 2, DEL), so one that cannot be read is none there. */
function readPrevResult(command: Command, config: RequestConfig): { prevResult?: AnyResult } {
  const value = config['prevResult'];
  if (value === undefined || value === null) return {};
  try {
    return { prevResult: parseResult(value, config.cniVersion) };
  } catch (error) {
    if (command === 'DEL') return {};
    throw error;
  }
}

/** Splits `CNI_PATH`; empty entries are dropped, since they would mean the current directory. */
export function splitPath(text: string): readonly string[] {
  return text.split(':').filter((directory) => directory !== '');
}

/** The key of the specification; runtimes also send the misspelt one that Go's library had first. */
const attachmentKeys = ['cni.dev/valid-attachments', 'cni.dev/attachments'] as const;

function readValidAttachments(config: RequestConfig): { validAttachments?: readonly Attachment[] } {
  const key = attachmentKeys.find((name) => config[name] !== undefined && config[name] !== null);
  if (key === undefined) return {};
  return {
    validAttachments: readAs(errorCodes.invalidNetworkConfig, 'network configuration', () =>
      array(readAttachment)(config[key], key),
    ),
  };
}

function readAttachment(value: unknown, path: string): Attachment {
  const from = object(value, path);
  return {
    containerId: required(from, 'containerID', path, string),
    interfaceName: required(from, 'ifname', path, string),
  };
}
