import { onAbort } from '@podwire/platform';
import { CniError, type ErrorDocument, errorCodes } from './error.js';
import type { Exec, PluginCall, PluginExit } from './exec/exec.js';
import type { JsonObject } from './shape.js';
import { currentVersion, supportedVersions } from './version.js';

/** A call as a fake plugin sees it. */
export interface FakeCall {
  readonly plugin: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** Standard input, parsed; empty when it was no JSON object. */
  readonly config: JsonObject;
  readonly stdin: string;
  readonly signal?: AbortSignal;
}

/** The answer of a fake plugin. Without `result`, `error`, `stdout` an ADD passes the previous result through. */
export interface FakeAnswer {
  /** Printed with exit status 0. */
  readonly result?: unknown;
  /** Printed with exit status 1. */
  readonly error?: ErrorDocument;
  /** Printed as it is. */
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
  /** Ended by this signal. */
  readonly signal?: string;
}

/** A function, or the answers to its calls in their order; VERSION is answered without it. */
export type FakePlugin =
  | ((call: FakeCall) => FakeAnswer | undefined | void | Promise<FakeAnswer | undefined | void>)
  | readonly FakeAnswer[];

export interface FakeExec extends Exec {
  /** Every call, in the order of their starts. */
  readonly calls: readonly FakeCall[];
}

export interface FakeOptions {
  /** Versions that VERSION reports, by plugin; by default all. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Plugins without processes, for tests of code that uses a runtime. A plugin that never answers is ended by the call's
 * signal, as a process is.
 */
export function createFakeExec(
  plugins: Readonly<Record<string, FakePlugin>>,
  options: FakeOptions = {},
): FakeExec {
  const calls: FakeCall[] = [];
  const turns = new Map<string, number>();
  const answer = async (call: FakeCall): Promise<FakeAnswer> => {
    const plugin = plugins[call.plugin];
    if (call.command === 'VERSION') return versionAnswer(options.versions?.[call.plugin]);
    if (typeof plugin === 'function') return (await plugin(call)) ?? {};
    const turn = turns.get(call.plugin) ?? 0;
    turns.set(call.plugin, turn + 1);
    const scripted = plugin?.[turn];
    if (scripted === undefined)
      throw new Error(`fake plugin ${call.plugin} has no answer for call ${turn + 1}`);
    return scripted;
  };
  return {
    calls,
    find: (type, directories) => {
      if (Object.hasOwn(plugins, type)) return `/fake/${type}`;
      throw new CniError(errorCodes.ioFailure, `plugin "${type}" is in none of: ${directories.join(', ')}`);
    },
    run: async (started) => {
      const call = toFakeCall(started);
      calls.push(call);
      return Promise.race([answer(call).then((said) => toExit(call, said)), endedBy(started.signal)]);
    },
  };
}

function versionAnswer(versions: readonly string[] = supportedVersions): FakeAnswer {
  return { result: { cniVersion: currentVersion, supportedVersions: versions } };
}

function toFakeCall({ file, env, stdin, signal }: PluginCall): FakeCall {
  const text = typeof stdin === 'string' ? stdin : Buffer.from(stdin).toString('utf8');
  return {
    plugin: file.slice(file.lastIndexOf('/') + 1),
    command: env['CNI_COMMAND'] ?? '',
    env,
    config: toObject(text),
    stdin: text,
    ...(signal && { signal }),
  };
}

function toObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

function toExit(call: FakeCall, said: FakeAnswer): PluginExit {
  const failed = said.error !== undefined;
  const code = said.signal === undefined ? (said.code ?? (failed ? 1 : 0)) : null;
  return { code, signal: said.signal ?? null, stdout: printed(call, said), stderr: said.stderr ?? '' };
}

function printed({ command, config }: FakeCall, said: FakeAnswer): string {
  if (said.stdout !== undefined) return said.stdout;
  if (said.error !== undefined) return JSON.stringify(said.error);
  if (said.result !== undefined) return JSON.stringify(said.result);
  const silent = command !== 'ADD' || said.signal !== undefined || (said.code ?? 0) !== 0;
  return silent ? '' : JSON.stringify(config['prevResult'] ?? { cniVersion: config['cniVersion'] });
}

/** A moment later than the abort: an answer that is there already counts, as it does with a process that has ended. */
function endedBy(signal: AbortSignal | undefined): Promise<PluginExit> {
  return new Promise((resolve) => {
    const end = (): void =>
      void setImmediate(() => resolve({ code: null, signal: 'SIGTERM', stdout: '', stderr: '' }));
    onAbort(signal, end);
  });
}
