import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { Io } from '../src/io.js';
import { runPodwire } from '../src/program.js';
import { makeTemporaryDirectory } from './temporary.js';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: number;
  /** Standard output and error are terminals. */
  readonly terminal?: boolean;
  /** Of that terminal; 100 when absent. */
  readonly columns?: number;
  /** Answers of the person at the terminal; without them there is no person. */
  readonly answers?: readonly string[];
  /** Testbeds that are up; none when absent, whatever the machine has. */
  readonly testbeds?: readonly string[];
  /** For commands about a cluster. */
  readonly cluster?: NonNullable<Io['cluster']>;
}

/** Runs a command line in this process. */
export async function run(
  argv: readonly string[],
  { env = {}, now = 0, terminal = false, columns = 100, cluster, answers, testbeds = [] }: RunOptions = {},
): Promise<Run> {
  const output = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => void (output[name] += text),
    isTTY: terminal,
    columns,
  });
  const io: Io = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env,
    now: () => now,
    color: true,
    exitCode: 0,
    testbeds,
    ...(cluster === undefined ? {} : { cluster }),
    ...(answers === undefined ? {} : { ask: createPerson(answers) }),
  };
  const code = await runPodwire(argv, io);
  return { code, ...output };
}

function createPerson(answers: readonly string[]): (question: string) => Promise<string> {
  const left = [...answers];
  return (question) => {
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nothing is left to answer: ${question}`);
    return Promise.resolve(answer);
  };
}

export interface FakeAgent {
  readonly socket: string;
  /** `GET /v1/status`, with the body behind it where there was one. */
  readonly asked: string[];
  close(): Promise<void>;
}

export interface FakeAnswer {
  readonly status?: number;
  /** JSON unless it is text. */
  readonly body: unknown;
}

type FakeAnswers = Readonly<Record<string, FakeAnswer | readonly FakeAnswer[]>>;

/** Runs a command line with a fake agent of its own. */
export async function askAgent(
  answers: FakeAnswers,
  argv: readonly string[],
  now = 0,
): Promise<Run & Pick<FakeAgent, 'asked'>> {
  const agent = await startFakeAgent(answers);
  try {
    const { socket, asked } = agent;
    return { ...(await run([...argv, '--socket', socket], { now })), asked };
  } finally {
    await agent.close();
  }
}

/** An HTTP server on a unix socket that answers as it is told; a list is answered one by one, the last for ever. */
export async function startFakeAgent(answers: FakeAnswers): Promise<FakeAgent> {
  const directory = makeTemporaryDirectory();
  const socket = path.join(directory, 'api.sock');
  const asked: string[] = [];
  const turns = new Map<string, number>();
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const key = `${request.method} ${request.url}`;
      asked.push(body === '' ? key : `${key} ${body}`);
      const known = answers[key];
      const list =
        known === undefined ? [{ status: 404, body: { error: { message: `no ${key}` } } }] : [known].flat();
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      const answer = list[Math.min(turn, list.length - 1)]!;
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      response.writeHead(answer.status ?? 200).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    asked,
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A file in a directory of its own. */
export function writeTemporary(name: string, text: string): string {
  const file = path.join(makeTemporaryDirectory(), name);
  fs.writeFileSync(file, text);
  return file;
}
