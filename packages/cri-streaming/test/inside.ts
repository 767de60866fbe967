/**
 * A streaming client as a program of its own, for servers whose loopback is that of another network namespace. Takes one job as
 * JSON, prints one result as JSON.
 */
import crypto from 'node:crypto';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import {
  connectPortForward,
  openAttach,
  openExec,
  openPortForward,
  type TerminalSize,
  type Transport,
} from '@podwire/cri-streaming';

export interface CommandJob {
  readonly kind: 'exec' | 'attach';
  readonly url: string;
  readonly transports?: readonly Transport[];
  readonly tty?: boolean;
  readonly stderr?: boolean;
  /** Text, or that many bytes of noise; its end is sent too, unless it is kept open. */
  readonly stdin?: string | number;
  readonly keepOpen?: boolean;
  readonly sizes?: readonly TerminalSize[];
}

export interface ForwardJob {
  readonly kind: 'forward';
  readonly url: string;
  readonly transport: Transport;
  readonly port: number;
  readonly request: string;
  /** Connections one beside the other, over one client connection. SPDY only. */
  readonly times?: number;
}

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of what came out and of what went in. */
  readonly digests: readonly [string, string];
}

export type Outcome<T> = T | { readonly error: string };

function collect(): { stream: Writable; read: () => Buffer } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, read: () => Buffer.concat(chunks) };
}

const digest = (data: Buffer): string => crypto.createHash('sha256').update(data).digest('hex');

async function runCommand(job: CommandJob): Promise<CommandResult> {
  const stdout = collect();
  const stderr = collect();
  const input = typeof job.stdin === 'number' ? crypto.randomBytes(job.stdin) : Buffer.from(job.stdin ?? '');
  const options = {
    stdout: stdout.stream,
    ...(job.stderr === true ? { stderr: stderr.stream } : {}),
    ...(job.stdin === undefined ? {} : { stdin: inputStream(input, job.keepOpen === true) }),
    ...(job.transports === undefined ? {} : { transports: job.transports }),
    ...(job.sizes === undefined ? {} : { sizes: Readable.from(job.sizes) }),
    tty: job.tty === true,
    signal: AbortSignal.timeout(60_000),
  };
  const exitCode =
    job.kind === 'exec' ? await openExec(job.url, options) : await openAttach(job.url, options);
  return {
    exitCode: exitCode ?? 0,
    stdout: stdout.read().toString('utf8', 0, 10_000),
    stderr: stderr.read().toString('utf8'),
    digests: [digest(stdout.read()), digest(input)],
  };
}

function inputStream(input: Buffer, keepOpen: boolean): Readable {
  if (!keepOpen) return Readable.from([input]);
  const stream = new PassThrough();
  stream.write(input);
  return stream;
}

/** Sends a request, and its end where that can be told, and gives what came back up to `\n` after an empty line. */
function client(request: string, endless: boolean): { stream: Duplex; answer: () => string } {
  const { stream: output, read } = collect();
  const input = new PassThrough();
  input.write(request);
  if (!endless) input.end();
  const stream = Duplex.from({ readable: input, writable: output });
  const answer = (): string => read().toString('utf8');
  const look = setInterval(() => {
    if (stream.destroyed || (endless && /\r\n\r\n.*\n$/s.test(answer()))) {
      clearInterval(look);
      stream.destroy();
    }
  }, 20);
  return { stream, answer };
}

async function runForward({ url, transport, port, request, times = 1 }: ForwardJob): Promise<string[]> {
  const signal = AbortSignal.timeout(60_000);
  const clients = Array.from({ length: times }, () => client(request, transport === 'websocket'));
  if (transport === 'websocket') {
    await openPortForward(url, port, clients[0]!.stream, { transports: [transport], signal });
  } else {
    const forwarder = await connectPortForward(url, { signal });
    await Promise.all(clients.map(({ stream }) => forwarder.forward(port, stream)));
    forwarder.close();
    await forwarder.closed;
  }
  return clients.map(({ answer }) => answer());
}

if (process.argv[1] === import.meta.filename) {
  const job = JSON.parse(process.argv[2]!) as CommandJob | ForwardJob;
  try {
    console.log(JSON.stringify(job.kind === 'forward' ? await runForward(job) : await runCommand(job)));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
  // An input that is kept open must not keep the program.
  process.exit();
}
