import { type ChildProcess, spawn } from 'node:child_process';
import { createNamespace, deleteNamespace, inNamespace, openNamespace } from '@podwire/linux';
import { PodwireError } from '@podwire/errors';

const directory = '/run/netns';

/** Where `ip netns` finds a namespace. */
export const namespacePath = (name: string): string => `${directory}/${name}`;

/** A network namespace of the demo. */
export interface DemoNamespace {
  readonly name: string;
  readonly path: string;
  /** As `/proc/PID/ns/net` shows it. */
  readonly inode: number;
  /** Runs synchronous work inside. */
  inside<T>(work: () => T): T;
  delete(): void;
}

/** Makes a namespace; its `lo` is down, as a container runtime leaves it. */
export function createDemoNamespace(name: string): DemoNamespace {
  const path = namespacePath(name);
  createNamespace(path);
  const handle = openNamespace(path);
  return {
    name,
    path,
    inode: handle.inode,
    inside: (work) => inNamespace(handle, work),
    delete() {
      handle.close();
      deleteNamespace(path);
    },
  };
}

/** Milliseconds. */
const commandDeadline = 10_000;

/**
 * Runs `ip -batch` inside: one command of iproute2 a line.
 * @throws PodwireError KERNEL_REFUSED with what ip says; the signal's reason
 */
export async function runIp(
  ip: string,
  namespace: DemoNamespace,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(commandDeadline)]);
  deadline.throwIfAborted();
  // A fork inherits the namespace of the thread that calls it.
  const child = namespace.inside(() => spawn(ip, ['-batch', '-'], { stdio: 'pipe', signal: deadline }));
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${commands.join('\n')}\n`);
  const { code, stderr } = await outcomeOf(child);
  signal.throwIfAborted();
  if (code === 0) return;
  throw new PodwireError(
    'KERNEL_REFUSED',
    `ip in ${namespace.name}: ${stderr.trim() || `exit code ${code}`}`,
  );
}

function outcomeOf(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stderr }));
  });
}
