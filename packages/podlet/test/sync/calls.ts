import type { CriRuntime } from '@podwire/cri';

export interface Call {
  readonly method: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Notes every call in the order in which they are made. */
export function recordCalls(): {
  readonly calls: Call[];
  readonly wrap: (runtime: CriRuntime) => CriRuntime;
} {
  const calls: Call[] = [];
  const wrap = (runtime: CriRuntime) =>
    new Proxy(runtime, {
      get: (inner, name) => {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          calls.push({ method: String(name), request: (args[0] ?? {}) as Record<string, unknown> });
          return Reflect.apply(member, inner, args) as unknown;
        };
      },
    });
  return { calls, wrap };
}

/** Calls that change something. */
export function changing(calls: readonly Call[]): string[] {
  return calls.map(({ method }) => method).filter((method) => /^(run|stop|remove|create|start)/.test(method));
}
