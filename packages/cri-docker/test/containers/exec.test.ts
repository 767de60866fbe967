import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { execStreaming, execSync } from '../../src/containers/exec.js';
import type { Docker } from '../../src/docker/index.js';
import { createOwners } from '../../src/owners.js';

const owners = createOwners('/r');
const container = {
  Id: 'c',
  State: { Running: true },
  Config: { Labels: { 'io.kubernetes.docker.type': 'container', ...owners.label } },
};

/** An engine whose program never ends by itself. */
function createEngine() {
  const asked: string[] = [];
  let begin = (): void => undefined;
  const started = new Promise<void>((resolve) => (begin = resolve));
  const docker = {
    inspectContainer: () => Promise.resolve(container),
    createExec: () => Promise.resolve('e'),
    startExec: (_id: string, _tty: boolean, { signal }: { signal: AbortSignal }) => {
      const stream = new PassThrough();
      signal.addEventListener('abort', () => stream.destroy(), { once: true });
      begin();
      return Promise.resolve(stream);
    },
    inspectExec: (id: string) => {
      asked.push(id);
      return Promise.resolve({ Running: false, Pid: 0, ExitCode: 137 });
    },
  } as unknown as Docker;
  return { own: { docker, owners }, asked, started };
}

describe('a program that does not end', () => {
  test('is looked for to be killed when its time is over, and that is said', async () => {
    const { own, asked } = createEngine();
    const { signal } = new AbortController();
    await expect(execSync(own, 'c', ['sleep'], 20, signal)).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'the command did not end within 0.02 s',
    });
    expect(asked).toEqual(['e']);
  });

  test.each([0, 3_600_000])('is given up with the call that asked, with %d ms', async (milliseconds) => {
    const { own, asked, started } = createEngine();
    const abort = new AbortController();
    const call = execSync(own, 'c', ['sleep'], milliseconds, abort.signal);
    await started;
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(asked).toEqual(['e']);
  });
});

describe('a program that Docker cannot start', () => {
  /** Its output as Docker frames it. */
  function outputOf(text: string): Buffer {
    const head = Buffer.alloc(8);
    head[0] = 1;
    head.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([head, Buffer.from(text)]);
  }

  async function run(texts: readonly string[], exitCode: number): Promise<{ code: number; output: string }> {
    const docker = {
      inspectContainer: () => Promise.resolve(container),
      createExec: () => Promise.resolve('e'),
      startExec: () => {
        const stream = new PassThrough();
        for (const text of texts) stream.write(outputOf(text));
        stream.end();
        return Promise.resolve(stream);
      },
      inspectExec: () => Promise.resolve({ Running: false, Pid: 0, ExitCode: exitCode }),
    } as unknown as Docker;
    const stdout = new PassThrough();
    let output = '';
    stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const call = { stdout, tty: false, sizes: noSizes(), signal: new AbortController().signal };
    const code = await execStreaming({ docker, owners }, 'c', ['x'], call);
    return { code, output };
  }

  async function* noSizes(): AsyncGenerator<never> {
    // a program without a terminal has none
  }

  const words =
    'OCI runtime exec failed: exec failed: exec: "x": executable file not found in $PATH: unknown';

  test('is an error with its words, not output', async () => {
    await expect(run([`${words}\r\n`], 127)).rejects.toMatchObject({ message: words });
  });

  test('a program that writes the same words is left alone', async () => {
    expect(await run([words], 0)).toEqual({ code: 0, output: words });
    expect(await run([words, ' more'], 127)).toEqual({ code: 127, output: `${words} more` });
  });
});
