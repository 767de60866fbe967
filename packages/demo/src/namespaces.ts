import { type ChildProcess, spawn } from 'node:child_process';
import { createNamespace, deleteNamespace, inNamespace, openNamespace } from '@podwire/linux';
import { PodwireError } from '@podwire/errors';
import { withDeadline } from '@podwire/platform';

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
  readonly inside: <T>(work: () => T) => T;
  /** Closes the handle; the namespace stays. */
  close(): void;
}

/** One that the demo has made. */
export interface OwnNamespace extends DemoNamespace {
  delete(): void;
}

/** Makes a namespace; its `lo` is down, as a container runtime leaves it. */
export function createDemoNamespace(name: string): OwnNamespace {
  const path = namespacePath(name);
  createNamespace(path);
  const namespace = openDemoNamespace(name, path);
  return {
    ...namespace,
    delete() {
      namespace.close();
      deleteNamespace(path);
    },
  };
}

/** Opens an existing pod. */
export function openDemoNamespace(name: string, path: string): DemoNamespace {
  const handle = openNamespace(path);
  return {
    name,
    path,
    inode: handle.inode,
    inside: (work) => inNamespace(handle, work),
    close: () => handle.close(),
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
  signal.throwIfAborted();
  const { code, stderr } = await withDeadline(signal, commandDeadline, (deadline) => {
    // A fork inherits the namespace of the thread that calls it.
    const child = namespace.inside(() => spawn(ip, ['-batch', '-'], { stdio: 'pipe', signal: deadline }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${commands.join('\n')}\n`);
    return outcomeOf(child);
  });
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
