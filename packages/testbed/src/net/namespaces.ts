/** Network namespaces of a testbed. */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { PodwireError } from '@podwire/errors';
import {
  bringLinkUp,
  createNamespace,
  deleteNamespace,
  inNamespace,
  openNamespace,
  type NamespaceHandle,
} from '@podwire/linux';
import { withDeadline } from '@podwire/platform';
import type { OpenRecord } from '../record.js';

export interface TestbedNamespace {
  readonly path: string;
  /** As `/proc/PID/ns/net` shows it. */
  readonly inode: number;
  /** Runs synchronous work inside. */
  inside<T>(work: () => T): T;
  /** Starts a program inside: a fork inherits the namespace of the thread that calls it. */
  spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /**
   * Runs a program inside to its end. @returns its standard output
   * @throws PodwireError TESTBED_FAILED with the output of the program; also when it was killed after 10 s
   */
  run(argv: readonly string[], options?: RunOptions): Promise<string>;
  /** Closes the handle; the namespace stays. */
  release(): void;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds; 10 s when absent. */
  readonly timeout?: number;
}

/** Creates a namespace with `lo` up. The record names it before it exists. */
export function makeNamespace(record: OpenRecord, file: string): TestbedNamespace {
  record.update(({ namespaces }) => ({ namespaces: [...namespaces, file] }));
  createNamespace(file);
  const namespace = openTestbedNamespace(file);
  namespace.inside(() => bringLinkUp('lo'));
  return namespace;
}

export function dropNamespace(record: OpenRecord, file: string): void {
  deleteNamespace(file);
  record.update(({ namespaces }) => ({ namespaces: namespaces.filter((each) => each !== file) }));
}

/** Opens an existing namespace. @throws SystemError, Error ENOENT */
export function openTestbedNamespace(file: string): TestbedNamespace {
  const handle: NamespaceHandle = openNamespace(file);
  let open = true;
  const self: TestbedNamespace = {
    path: file,
    inode: handle.inode,
    inside: (work) => inNamespace(handle, work),
    spawn: (program, args, options) => inNamespace(handle, () => spawn(program, args, options)),
    run: (argv, options) => runInside(self, argv, options),
    release() {
      if (open) handle.close();
      open = false;
    },
  };
  return self;
}

const runDeadline = 10_000;

async function runInside(
  namespace: TestbedNamespace,
  [program = '', ...args]: readonly string[],
  { signal, input, env, timeout = runDeadline }: RunOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  const { code, stdout, stderr } = await withDeadline(signal, timeout, (deadline) => {
    const more = env === undefined ? {} : { env: { ...process.env, ...env } };
    const child = namespace.spawn(program, args, {
      stdio: 'pipe',
      signal: deadline,
      killSignal: 'SIGKILL',
      ...more,
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    return outcomeOf(child);
  });
  signal?.throwIfAborted();
  if (code === 0) return stdout;
  const what = `${[program, ...args].join(' ')} in ${namespace.path}: `;
  throw new PodwireError('TESTBED_FAILED', what + (stderr.trim() || `exit code ${code}`));
}

function outcomeOf(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
