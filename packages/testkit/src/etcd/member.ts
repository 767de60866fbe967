/** One etcd process that can be killed, frozen and started again, always by its own process id. */
import fs from 'node:fs';
import type { Exit, ProcessOptions, RunningProcess } from '../processes.js';

export interface EtcdMember {
  readonly name: string;
  /** For clients. */
  readonly endpoint: string;
  readonly dataDirectory: string;
  readonly pid: number;
  /** Log of this and all earlier incarnations. */
  log(): string;
  /** SIGKILL, and waits for the end. */
  kill9(): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** Starts it again after its end; resolves when it answers, which takes a majority of the members. */
  start(): Promise<void>;
  /** Starts it and waits for nothing. */
  begin(): void;
  /** SIGSTOP: connections stay, nothing is answered. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
}

export interface MemberPlan {
  readonly name: string;
  readonly endpoint: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  readonly argv: readonly string[];
}

export interface MemberEnvironment {
  readonly spawn: (argv: readonly string[], options: ProcessOptions) => RunningProcess;
  /** Resolves when the member answers; the signal aborts when it has ended. */
  readonly untilReady: (plan: MemberPlan, signal: AbortSignal) => Promise<void>;
}

/** A member that is not started yet. */
export function createMember(plan: MemberPlan, { spawn, untilReady }: MemberEnvironment): EtcdMember {
  let current: RunningProcess | undefined;
  const log = (): string => (fs.existsSync(plan.logFile) ? fs.readFileSync(plan.logFile, 'utf8') : '');
  const begin = (): void => {
    current = spawn(plan.argv, { outputFile: plan.logFile });
  };
  const end = async (signal: NodeJS.Signals): Promise<Exit | undefined> => {
    const ending = current;
    current = undefined;
    ending?.kill(signal);
    ending?.kill('SIGCONT'); // a frozen one hears of nothing but SIGKILL
    return ending?.exited;
  };
  return {
    name: plan.name,
    endpoint: plan.endpoint,
    dataDirectory: plan.dataDirectory,
    get pid() {
      return current?.pid ?? -1;
    },
    log,
    begin,
    start: async () => {
      begin();
      await whileRunning(current, log, (signal) => untilReady(plan, signal));
    },
    kill9: async () => void (await end('SIGKILL')),
    stop: async () => void (await end('SIGTERM')),
    freeze: () => current?.freeze(),
    thaw: () => current?.kill('SIGCONT'),
  };
}

/** @throws Error with the log when the process ends before the work */
async function whileRunning(
  current: RunningProcess | undefined,
  log: () => string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const fail = (why: unknown): void => over.abort(new Error(`etcd: ${String(why)}\n${log().slice(-3000)}`));
  let waiting = true;
  current?.exited.then(
    (exit) => void (waiting && fail(`ended (${exit.signal ?? exit.code})`)),
    (error: unknown) => void (waiting && fail(error)),
  );
  try {
    await work(over.signal);
  } catch (error) {
    throw over.signal.aborted
      ? over.signal.reason
      : new Error(`etcd does not answer:\n${log().slice(-3000)}`, { cause: error });
  } finally {
    waiting = false;
  }
}
