/** A program of ours that a test starts, kills and starts again. */
import type { Exit, PrivateHost, RunningProcess } from '@podwire/testkit';

export interface Service {
  readonly pid: number;
  start(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill9(): Promise<void>;
  /** SIGTERM. @throws Error when it does not end by itself, with exit code 0 */
  stop(): Promise<void>;
  /** Resolves when it has ended, however. */
  exited(): Promise<Exit>;
  /** The last lines that this and earlier incarnations have written to standard error. */
  log(): string;
}

export function createService(
  host: PrivateHost,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Service {
  let running: RunningProcess | undefined;
  let earlier = '';
  const exited = async (): Promise<Exit> => (await running?.exited) ?? { code: 0, signal: null };
  const self: Service = {
    get pid() {
      return running?.pid ?? -1;
    },
    log: () => (earlier + (running?.stderr() ?? '')).split('\n').slice(-40).join('\n'),
    exited,
    async start() {
      earlier = self.log();
      running = host.start(argv, { env: { ...process.env, ...env } });
      await running.waitForOutput(/"msg":"ready"/);
    },
    async kill9() {
      running?.kill('SIGKILL');
      await exited();
    },
    async stop() {
      const exit = await running?.stop(20_000);
      if (exit?.code !== 0) throw new Error(`it ended with ${exit?.signal ?? exit?.code}:\n${self.log()}`);
    },
  };
  host.defer(() => self.kill9());
  return self;
}
