/** Proof that no other agent works on the same state or on the same network namespace: both would prune each other. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode, lockFile, peerCredentials } from '@podwire/linux';

/** In the state directory. */
export const lockFileName = 'agent.lock';

/**
 * Opens (and makes, mode 0700) the state directory and locks it for this process.
 * @returns how to unlock it; a process that dies unlocks it too
 * @throws PodwireError AGENT_RUNNING, CONFIG_INVALID
 */
export function lockStateDirectory(directory: string): () => void {
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    // It may be there from before with a wider mode; other users must not read what is in it.
    fs.chmodSync(directory, 0o700);
    const fd = fs.openSync(
      path.join(directory, lockFileName),
      fs.constants.O_RDWR | fs.constants.O_CREAT,
      0o600,
    );
    lockFile(fd);
    return () => fs.closeSync(fd);
  } catch (cause) {
    if (hasCode(cause, 'EAGAIN', 'EWOULDBLOCK')) {
      throw new PodwireError('AGENT_RUNNING', `another agent uses ${directory}`, {
        details: { directory },
        action: 'Stop the other one first, or give this one its own `stateDir`, `socket` and `apiSocket`.',
      });
    }
    throw new PodwireError('CONFIG_INVALID', `stateDir: ${describeError(cause)}`, {
      cause,
      details: { directory },
    });
  }
}

/** A name in the abstract namespace (unix(7)), which every network namespace has its own of. */
const abstractName = '\0podwire-agent';

/**
 * Claims the network namespace that this process lives in.
 * @returns how to give it back; a process that dies gives it back too
 * @throws PodwireError AGENT_RUNNING
 */
export async function claimNetworkNamespace(): Promise<() => void> {
  const server = net.createServer((socket) => socket.destroy());
  const error = await new Promise<Error | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen(abstractName, () => resolve(undefined));
  });
  if (error === undefined) {
    server.unref();
    return () => void server.close();
  }
  if (!hasCode(error, 'EADDRINUSE')) throw error;
  const holder = await holderOf(abstractName);
  // Any user may take an abstract name; only another agent is a reason not to start.
  if (holder !== undefined && holder.uid !== 0 && holder.uid !== process.getuid?.()) return () => undefined;
  const who = holder === undefined ? '' : ` (process ${holder.pid})`;
  throw new PodwireError('AGENT_RUNNING', `another agent${who} serves this network namespace`, {
    action: 'Stop the other one first; a second agent needs a network namespace of its own.',
  });
}

/** Process that listens: SO_PEERCRED of a connecting socket names the process that called listen(2). */
function holderOf(name: string): Promise<{ pid: number; uid: number } | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(name);
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => {
      const peer = peerCredentials(socket);
      socket.destroy();
      resolve(peer);
    });
  });
}
