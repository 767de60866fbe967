import { CniError, errorCodes } from '../error.js';
import type { Exec } from '../exec/exec.js';
import { createProcessExec } from '../exec/process-exec.js';
import {
  type AttachmentRequest,
  type GcRequest,
  parseRequest,
  type Request,
  type StatusRequest,
} from '../request.js';
import { convertResult } from '../result/convert.js';
import type { AnyResult, VersionResult } from '../result/types.js';
import { type CniVersion, compareVersions, currentVersion, supportedVersions } from '../version.js';
import { type PluginIo, processIo, type Sink } from './io.js';

/** The context that handlers get besides the request. */
export interface PluginContext {
  /** The plugin's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For logs; the runtime copies it to its own. */
  readonly stderr: Sink;
  /** Runs delegated plugins; see `delegateAdd`. */
  readonly exec: Exec;
}

/** A plugin: what it does, which versions it speaks, what it is. */
export interface Plugin {
  /**
   * Returns the result in any version; it is converted to the version of the configuration. A chained plugin returns
   * `request.prevResult`, changed as needed (section 5, "ADD Success").
   */
  add(request: AttachmentRequest, context: PluginContext): AnyResult | Promise<AnyResult>;
  /** Must succeed when there is nothing (left) to undo, also without `netns` (section 2, DEL). */
  del(request: AttachmentRequest, context: PluginContext): void | Promise<void>;
  /** Without one CHECK succeeds. */
  check?(request: AttachmentRequest, context: PluginContext): void | Promise<void>;
  /** Without one GC succeeds. */
  gc?(request: GcRequest, context: PluginContext): void | Promise<void>;
  /** Without one STATUS succeeds. To refuse, throw a CniError of code 50 or 51. */
  status?(request: StatusRequest, context: PluginContext): void | Promise<void>;
  /** Versions it speaks; by default all released ones. */
  readonly versions?: readonly CniVersion[];
  /** One line: name and version. */
  readonly about: string;
}

/**
 * The main function of a plugin (specification, section 2): reads environment and standard input, checks them, calls
 * the handler, prints the result or the error object, and exits with 0 or 1. Without `CNI_COMMAND` it prints `about` and
 * the versions on standard error and exits with 0. A CniError that a handler throws is printed as it is, anything else
 * as code 999.
 */
export async function runPlugin(plugin: Plugin, io: PluginIo = processIo()): Promise<void> {
  if ((io.env['CNI_COMMAND'] ?? '') === '') {
    io.stderr.write(`${plugin.about}\nCNI protocol versions supported: ${versionsOf(plugin).join(', ')}\n`);
    return io.exit(0);
  }
  try {
    const answer = await dispatch(plugin, io);
    if (answer !== undefined) io.stdout.write(`${JSON.stringify(answer)}\n`);
    return io.exit(0);
  } catch (error) {
    const failure = CniError.from(error);
    const known = failure.cniVersion === undefined ? failure.withVersion(newestOf(plugin)) : failure;
    io.stdout.write(`${JSON.stringify(known)}\n`);
    return io.exit(1);
  }
}

function versionsOf({ versions = supportedVersions }: Plugin): readonly CniVersion[] {
  return versions;
}

function newestOf(plugin: Plugin): CniVersion {
  return versionsOf(plugin).toSorted(compareVersions).at(-1) ?? currentVersion;
}

async function dispatch(plugin: Plugin, io: PluginIo): Promise<AnyResult | VersionResult | undefined> {
  const versions = versionsOf(plugin);
  if (io.env['CNI_COMMAND'] === 'VERSION')
    return { cniVersion: newestOf(plugin), supportedVersions: versions };
  const request = parseRequest(io.env, await readInput(io), { versions });
  if (request.command === 'VERSION') return undefined;
  try {
    return await handle(plugin, request, io);
  } catch (error) {
    throw CniError.from(error).withVersion(request.config.cniVersion);
  }
}

async function readInput({ stdin }: PluginIo): Promise<Uint8Array> {
  try {
    return typeof stdin === 'function' ? await stdin() : stdin;
  } catch (error) {
    const message = `cannot read standard input: ${(error as Error).message}`;
    throw new CniError(errorCodes.ioFailure, message, { cause: error });
  }
}

async function handle(
  plugin: Plugin,
  request: Exclude<Request, { command: 'VERSION' }>,
  io: PluginIo,
): Promise<AnyResult | undefined> {
  const context = { env: io.env, stderr: io.stderr, exec: io.exec ?? createProcessExec({ ownGroup: false }) };
  if (request.command === 'GC') return void (await plugin.gc?.(request, context));
  if (request.command === 'STATUS') return void (await plugin.status?.(request, context));
  await refuseOwnNamespace(request, io);
  if (request.command === 'DEL') return void (await plugin.del(request, context));
  if (request.command === 'CHECK') return void (await plugin.check?.(request, context));
  return convertResult(await plugin.add(request, context), request.config.cniVersion);
}

/**
 * A pod's namespace is never the plugin's: working on it would change the host's network. Go's skeleton looks after the
 * handler ran, when the harm is done; this looks before.
 */
async function refuseOwnNamespace({ netns, netnsOverride }: AttachmentRequest, io: PluginIo): Promise<void> {
  if (netns === '' || netnsOverride || !(await io.isOwnNamespace?.(netns))) return;
  throw new CniError(
    errorCodes.invalidNamespace,
    `CNI_NETNS is the plugin's own network namespace: ${netns}`,
    {
      details: 'CNI_NETNS_OVERRIDE=1 allows it',
    },
  );
}
