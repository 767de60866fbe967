import { createHash } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compact } from '@podwire/platform';
import { type CniArgs, parseCniArgs } from '../args.js';
import { defaultConfigDirectory, loadNetwork, NetworkNotFoundError } from '../config/load.js';
import type { NetworkConfig } from '../config/network.js';
import { CniError, errorCodes } from '../error.js';
import type { Exec } from '../exec/exec.js';
import { parseJson } from '../json.js';
import type { Sink } from '../plugin/io.js';
import { splitPath } from '../request.js';
import { createRuntime } from '../runtime/runtime.js';
import type { AttachmentParameters, CallOptions, PluginFinish, Runtime } from '../runtime/types.js';
import { type JsonObject, object, readAs } from '../shape.js';

const verbs = ['add', 'del', 'check', 'gc', 'status'] as const;
type Verb = (typeof verbs)[number];

/** The environment of the tool. */
export interface CniToolIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Gives up; wire it to SIGINT and SIGTERM. */
  readonly signal?: AbortSignal;
  /** Name in the help text; default `cnitool`. */
  readonly name?: string;
  readonly exec?: Exec;
}

/** The directories of plugins when CNI_PATH is not set: upstream's and Debian's places. */
const defaultPluginPath = '/opt/cni/bin:/usr/lib/cni';

const helpText = (name: string): string => `Usage: ${name} <command> <network> [<netns>] [options]

Runs a network configuration on a network namespace that exists already.

Commands:
  add     attach the namespace to the network and print the result
  check   check that an attachment is as it was made
  del     detach it; works from the cache when the configuration is gone
  gc      remove all attachments of the network and what its plugins find stale
  status  ask whether the network can take attachments

Arguments:
  <network>  the "name" in a file of NETCONFPATH
  <netns>    path of the namespace, as /run/netns/NAME (not for gc and status)

Options:
  -i, --ifname NAME     interface in the namespace (default: CNI_IFNAME, else eth0)
  -o, --output FORMAT   text (default) or json: one JSON document on standard output, errors too
      --cache-dir DIR   parent of the results cache (default: /var/lib/cni)
      --timeout SECONDS time for all plugins together (default: 220)
  -v, --verbose         say on standard error which plugins ran and how long they took
  -h, --help            this text

Environment:
  NETCONFPATH  directory of network configurations (default: ${defaultConfigDirectory})
  CNI_PATH     directories of plugins, separated by ":" (default: ${defaultPluginPath})
  CAP_ARGS     capability arguments as a JSON object, as {"portMappings":[...]}
  CNI_ARGS     arguments for all plugins, as KEY=VALUE;KEY2=VALUE2
  CNI_IFNAME   interface in the namespace

The container id is "cnitool-" and 20 hexadecimal digits of the SHA-512 of the namespace's path.
Exit status: 0 done, 1 it failed, 2 it was called wrongly.
`;

/** The id that `cnitool` gives a namespace: `cnitool-` and the first 20 hexadecimal digits of the path's SHA-512. */
export function cniToolContainerId(netns: string): string {
  return `cnitool-${createHash('sha512').update(netns).digest('hex').slice(0, 20)}`;
}

interface Job {
  readonly verb: Verb;
  readonly network: string;
  readonly netns: string;
  readonly ifname: string;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly cacheDir: string | undefined;
  readonly timeoutMs: number | undefined;
}

class UsageError extends Error {}

/**
 * Does what upstream's `cnitool` does, with the same arguments, environment and container id; a failed add is undone.
 * @param argv arguments without the program's name: `['add', 'mynet', '/run/netns/x']`.
 * @returns the exit status; nothing is thrown.
 */
export async function runCniTool(argv: readonly string[], io: CniToolIo): Promise<number> {
  const name = io.name ?? 'cnitool';
  try {
    const job = readJob(argv, io.env);
    if (job === 'help') {
      io.stdout.write(helpText(name));
      return 0;
    }
    return await runJob(job, io, name);
  } catch (error) {
    io.stderr.write(`${name}: ${(error as Error).message}\n`);
    if (!(error instanceof UsageError)) return 1;
    io.stderr.write(`Try "${name} --help".\n`);
    return 2;
  }
}

function readJob(argv: readonly string[], env: CniToolIo['env']): Job | 'help' {
  const { values, positionals } = parseOptions(argv);
  if (values.help === true) return 'help';
  const [verb = '', network, netns, ...more] = positionals;
  if (!isVerb(verb)) throw new UsageError(verb === '' ? 'which command?' : `no such command: ${verb}`);
  if (network === undefined) throw new UsageError(`${verb} needs the name of a network`);
  if (netns === undefined && verb !== 'gc' && verb !== 'status')
    throw new UsageError(`${verb} needs a namespace`);
  if (more.length > 0) throw new UsageError(`too many arguments: ${more.join(' ')}`);
  return {
    verb,
    network,
    netns: netns === undefined ? '' : path.resolve(netns),
    ifname: values.ifname ?? (env['CNI_IFNAME'] || 'eth0'),
    json: isJson(values.output),
    verbose: values.verbose ?? false,
    cacheDir: values['cache-dir'],
    timeoutMs: readTimeout(values.timeout),
  };
}

function parseOptions(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ifname: { type: 'string', short: 'i' },
        output: { type: 'string', short: 'o' },
        'cache-dir': { type: 'string' },
        timeout: { type: 'string' },
        verbose: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function isVerb(text: string): text is Verb {
  return (verbs as readonly string[]).includes(text);
}

function isJson(format = 'text'): boolean {
  if (format === 'json' || format === 'text') return format === 'json';
  throw new UsageError(`--output must be text or json, not ${format}`);
}

function readTimeout(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const milliseconds = Number(seconds) * 1000;
  if (milliseconds > 0 && milliseconds <= 86_400_000) return milliseconds;
  throw new UsageError(`--timeout must be a number of seconds up to a day, not ${seconds}`);
}

async function runJob(job: Job, io: CniToolIo, name: string): Promise<number> {
  try {
    const answer = await execute(job, io);
    if (answer !== undefined) io.stdout.write(`${JSON.stringify(answer, undefined, 4)}\n`);
    else if (job.json) io.stdout.write(`${JSON.stringify(acknowledge(job))}\n`);
    return 0;
  } catch (error) {
    const failure = CniError.from(error);
    if (job.json) io.stdout.write(`${JSON.stringify(failure)}\n`);
    else io.stderr.write(`${name}: ${failure.message} (code ${failure.code})\n${indent(failure.details)}`);
    return 1;
  }
}

function indent(details = ''): string {
  return details === '' ? '' : `${details.replaceAll(/^/gm, '    ')}\n`;
}

function acknowledge({ verb, network }: Job): JsonObject {
  return { command: verb, network, ok: true };
}

async function execute(job: Job, io: CniToolIo): Promise<unknown> {
  const runtime = createToolRuntime(job, io);
  const options: CallOptions = {
    ...(io.signal && { signal: io.signal }),
    ...compact({ timeoutMs: job.timeoutMs }),
  };
  const attachment = readAttachment(job, io.env);
  const network = await findNetwork(job, io.env, runtime);
  if (job.verb === 'del') return void (await runtime.del(network, attachment, options));
  if (typeof network === 'string') throw new Error('only del works without a configuration');
  if (job.verb === 'add') return runtime.add(network, attachment, options);
  if (job.verb === 'check') return runtime.check(network, attachment, options);
  if (job.verb === 'gc') return runtime.gc(network, null, options);
  return runtime.status(network, options);
}

function createToolRuntime({ cacheDir, verbose }: Job, io: CniToolIo): Runtime {
  return createRuntime({
    pluginPath: splitPath(io.env['CNI_PATH'] || defaultPluginPath),
    rollback: true,
    env: io.env,
    ...compact({ cacheDir }),
    ...(io.exec && { exec: io.exec }),
    observer: {
      pluginFinished: (call) => io.stderr.write(`${verbose ? describeCall(call) : ''}${call.stderr}`),
    },
  });
}

function describeCall({ plugin, command, durationMs, error }: PluginFinish): string {
  return `${command} ${plugin}: ${durationMs.toFixed(1)} ms${error === undefined ? '' : `, ${error.message}`}\n`;
}

/** A DEL must not need the configuration file: when it is gone the cache knows what was done. */
async function findNetwork(
  { verb, network }: Job,
  env: CniToolIo['env'],
  runtime: Runtime,
): Promise<NetworkConfig | string> {
  try {
    return await loadNetwork(env['NETCONFPATH'] || defaultConfigDirectory, network);
  } catch (error) {
    if (verb !== 'del' || !(error instanceof NetworkNotFoundError)) throw error;
    if ((await runtime.attachments()).some((attachment) => attachment.network === network)) return network;
    throw error;
  }
}

function readAttachment({ netns, ifname }: Job, env: CniToolIo['env']): AttachmentParameters {
  return {
    containerId: cniToolContainerId(netns),
    interfaceName: ifname,
    netns,
    ...readArgs(env['CNI_ARGS'] ?? ''),
    ...readCapabilityArgs(env['CAP_ARGS'] ?? ''),
  };
}

function readArgs(text: string): { args?: CniArgs } {
  return text === '' ? {} : { args: parseCniArgs(text) };
}

function readCapabilityArgs(text: string): { capabilityArgs?: JsonObject } {
  if (text === '') return {};
  const value = parseJson(text, 'CAP_ARGS');
  return { capabilityArgs: readAs(errorCodes.invalidEnvironment, 'CAP_ARGS', () => object(value, '')) };
}
