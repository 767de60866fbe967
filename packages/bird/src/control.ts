/** The daemon's control socket: a line of command, answered by lines that begin with four digits (BIRD 2's client protocol). */
import net from 'node:net';
import { describeError, PodwireError } from '@podwire/errors';
import { withDeadline } from '@podwire/platform';

export interface BirdReply {
  /** The last line's number: below 1000 done, 1000–2999 data, 8000 and 9000 errors. */
  readonly code: number;
  /** Every line with its number. */
  readonly lines: readonly { readonly code: number; readonly text: string }[];
}

/** Bytes; no expected answer is longer. */
const longestReply = 4 << 20;

/**
 * Sends one command on a connection of its own.
 * @param command without line break; text in it must be quoted by the caller
 * @throws PodwireError BGP_REFUSED when the daemon does not answer in time or answers with an error
 */
export async function askBird(
  socketFile: string,
  command: string,
  { deadline, signal }: { readonly deadline: number; readonly signal?: AbortSignal },
): Promise<BirdReply> {
  if (/[\r\n]/.test(command)) throw new PodwireError('INTERNAL', 'a command of two lines');
  const reply = await withDeadline(signal, deadline, (either) => converse(socketFile, command, either)).catch(
    (cause: unknown) => {
      const message = `the BGP daemon at ${socketFile} does not answer: ${describeError(cause)}`;
      throw new PodwireError('BGP_REFUSED', message, { cause, details: { socket: socketFile } });
    },
  );
  if (reply.code < 8000) return reply;
  const said = reply.lines.map(({ text }) => text).join(' ');
  throw new PodwireError('BGP_REFUSED', `the BGP daemon refused "${command}": ${said}`, {
    details: { socket: socketFile },
  });
}

function converse(socketFile: string, command: string, signal: AbortSignal): Promise<BirdReply> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path: socketFile, signal });
    let received = '';
    let greeted = false;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      received += text;
      if (received.length > longestReply) return void socket.destroy(new Error('the answer does not end'));
      const reply = readReply(received);
      if (reply === undefined) return;
      if (greeted) {
        resolve(reply);
        socket.destroy();
        return;
      }
      greeted = true;
      received = '';
      socket.write(`${command}\n`);
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection ended')));
  });
}

/**
 * `1002-text` goes on, `0003 text` is the last line, ` text` continues the number before.
 * @returns undefined while the last line is not there
 */
export function readReply(text: string): BirdReply | undefined {
  if (!text.endsWith('\n')) return undefined;
  const lines: { code: number; text: string }[] = [];
  for (const line of text.slice(0, -1).split('\n')) {
    const numbered = /^(\d{4})([- ])(.*)$/.exec(line);
    if (numbered === null) {
      lines.push({ code: lines.at(-1)?.code ?? 0, text: line.slice(1) });
      continue;
    }
    const code = Number(numbered[1]);
    lines.push({ code, text: numbered[3]! });
    if (numbered[2] === ' ') return { code, lines: lines.filter(({ text: said }) => said !== '') };
  }
  return undefined;
}
