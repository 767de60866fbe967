/** Reports plugin calls: spans, lines in the log, counters. */
import { CniError, type Exec, type PluginFinish, type RuntimeObserver } from '@podwire/cni';
import { type Attributes, formatTraceparent, parseTraceparent, type Tracer } from '@podwire/tracing';
import type { Log } from '@podwire/platform';

/** Calls of one plugin with one command and one outcome. */
export interface CallCounter {
  readonly plugin: string;
  readonly command: string;
  readonly outcome: 'ok' | 'failed';
  readonly count: number;
  /** Milliseconds, all together and the longest. */
  readonly totalMs: number;
  readonly longestMs: number;
}

/**
 * Makes each call a child of the span that its `TRACEPARENT` names, and hands the child's context to the plugin: what the plugin and
 * those behind it trace hangs on the very call. Calls without a parent (VERSION, STATUS) are not traced.
 */
export function traceCalls(exec: Exec, tracer: Tracer): Exec {
  return {
    find: (type, directories) => exec.find(type, directories),
    run: async (call) => {
      const parent = parseTraceparent(call.env['TRACEPARENT']);
      if (parent === undefined) return exec.run(call);
      const plugin = call.file.slice(call.file.lastIndexOf('/') + 1);
      const command = call.env['CNI_COMMAND'] ?? '';
      const span = tracer.start(`cni ${command} ${plugin}`, parent, factsOf(call.env));
      const traceparent = formatTraceparent(span.context);
      const env = traceparent === undefined ? call.env : { ...call.env, TRACEPARENT: traceparent };
      try {
        const exit = await exec.run({ ...call, env });
        span.set(exit.code === null ? { 'cni.signal': exit.signal ?? '' } : { 'cni.exit': exit.code });
        span.end(exit.code === 0 ? undefined : whyOf(exit));
        return exit;
      } catch (error) {
        span.end(error);
        throw error;
      }
    },
  };
}

function factsOf(env: Readonly<Record<string, string>>): Attributes {
  const { CNI_CONTAINERID: container = '', CNI_IFNAME: link = '', CNI_NETNS: netns = '' } = env;
  return { 'cni.container': container, 'cni.interface': link, 'cni.netns': netns };
}

function whyOf({ code, signal, stdout, stderr }: Awaited<ReturnType<Exec['run']>>): string {
  const said = CniError.fromJSON(tryParse(stdout));
  const end = code === null ? `killed by ${signal}` : `exit status ${code}`;
  return said?.message ?? (stderr.trim() === '' ? end : `${end}: ${stderr.trim().slice(-1000)}`);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface CallLog {
  readonly observer: RuntimeObserver;
  readonly counters: () => readonly CallCounter[];
}

export function createCallLog(log: Log): CallLog {
  const counters = new Map<string, CallCounter>();
  return {
    observer: {
      pluginFinished(call) {
        count(counters, call);
        write(log, call);
      },
      cacheDropped(file, reason) {
        log.warn({ file, reason: reason.message }, 'a cached CNI result was of no use');
      },
    },
    counters: () => [...counters.values()],
  };
}

function count(counters: Map<string, CallCounter>, call: PluginFinish): void {
  const { plugin, command, durationMs } = call;
  const outcome = call.error === undefined ? 'ok' : 'failed';
  const key = `${plugin} ${command} ${outcome}`;
  const { count: before, totalMs, longestMs } = counters.get(key) ?? { count: 0, totalMs: 0, longestMs: 0 };
  counters.set(key, {
    plugin,
    command,
    outcome,
    count: before + 1,
    totalMs: totalMs + durationMs,
    longestMs: Math.max(longestMs, durationMs),
  });
}

/** VERSION and STATUS come every few seconds: they are noise unless they fail. */
function write(log: Log, call: PluginFinish): void {
  const { plugin, command, network, containerId, exitCode, exitSignal, error, rollback } = call;
  const stderr = call.stderr.trim();
  const facts = {
    plugin,
    command,
    network,
    containerId,
    ms: Math.round(call.durationMs * 1000) / 1000,
    exit: exitCode ?? exitSignal,
    ...(stderr === '' ? {} : { stderr }),
    ...(rollback ? { rollback } : {}),
    ...(error === undefined ? {} : { code: error.code, error: error.message }),
  };
  const isProbe = command === 'VERSION' || command === 'STATUS';
  if (error !== undefined) log.warn(facts, 'CNI plugin failed');
  else if (isProbe) log.debug(facts, 'CNI plugin');
  else log.info(facts, 'CNI plugin');
}
