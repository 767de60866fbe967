/** Bytes on the wire and back, for every form of the plugin. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { supportedVersions } from '@podwire/cni';
import { answer, type Call, type FakeAgent, parseCall, startFakeAgent } from './fake-agent.js';
import { buildPrograms, DEFAULT_SOCKET, makeFolder, type Program, runProgram, VERSION } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder);
after(() => fs.rmSync(folder, { recursive: true }));

const ADD = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/run/netns/c1',
  CNI_IFNAME: 'eth0',
  CNI_ARGS: 'K8S_POD_NAME=web;K8S_POD_NAMESPACE=default',
  CNI_PATH: '/opt/cni/bin',
};

/** The bytes that the decision record asks for. */
const requestOf = (environment: Readonly<Record<string, string>>, input: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`PW1\0${Object.entries(environment).map(([name, value]) => `${name}=${value}\0`).join('')}\0`), // prettier-ignore
    Buffer.from(input),
  ]);

const onlyCall = (agent: FakeAgent): Call => {
  assert.equal(agent.calls.length, 1);
  return agent.calls[0]!;
};

const errorObject = (stdout: Buffer): Record<string, unknown> =>
  JSON.parse(stdout.toString()) as Record<string, unknown>;

describe('the fake agent', () => {
  it('refuses what is no request', () => {
    assert.throws(() => parseCall(Buffer.from('GET / HTTP/1.1')), /does not begin/);
    assert.throws(() => parseCall(Buffer.from('PW1\0CNI_A=1')), /no end/);
  });
});

for (const program of programs)
  describe(program.name, () => {
    const socket = path.join(folder, `${path.basename(path.dirname(program.file))}-${path.basename(program.file)}.sock`); // prettier-ignore
    const config = JSON.stringify({ cniVersion: '1.0.0', name: 'podwire', type: 'podwire-cni', socket });
    let agent: FakeAgent;
    before(async () => {
      agent = await startFakeAgent(socket, answer('0'));
    });
    after(() => agent.stop());
    const call = (environment: Record<string, string>, input: string | Buffer) => {
      agent.calls.length = 0;
      return runProgram(program, environment, input);
    };

    it('sends the environment of CNI and the input as they are', async () => {
      agent.reply = answer('0', '{"cniVersion":"1.0.0"}');
      const outcome = await call(ADD, config);
      assert.deepEqual(onlyCall(agent).raw, requestOf(ADD, config));
      assert.deepEqual(outcome, {
        code: 0,
        signal: null,
        stdout: Buffer.from('{"cniVersion":"1.0.0"}'),
        stderr: '',
      });
    });

    it('sends the trace context, and nothing else of the environment', async () => {
      const trace = { TRACEPARENT: '00-1-2-01', TRACESTATE: 'a=b', BAGGAGE: 'k=v=w' };
      const others = {
        HOME: '/root',
        XCNI_A: '1',
        TRACEPARENTS: '1',
        CNI: '1',
        cni_command: 'DEL',
        SECRET: 's',
      };
      await call({ ...others, ...ADD, ...trace }, config);
      assert.deepEqual(onlyCall(agent).raw, requestOf({ ...ADD, ...trace }, config));
    });

    it('carries empty values, line ends, equal signs and characters beyond ASCII', async () => {
      const odd = { ...ADD, CNI_ARGS: '', CNI_X: 'a=b\n=', CNI_UMLAUT: 'ä€😀' };
      await call(odd, config);
      assert.deepEqual(onlyCall(agent).raw, requestOf(odd, config));
    });

    it('carries input that is not UTF-8 and has zero bytes', async () => {
      const input = Buffer.concat([Buffer.from(config), Buffer.from([0, 255, 254, 0, 10])]);
      await call(ADD, input);
      assert.deepEqual(onlyCall(agent).input, input);
    });

    it('carries 1 MiB and one byte, and no more than that', async () => {
      const limit = 1024 * 1024 + 1;
      for (const size of [limit - 2, limit - 1, limit, limit + 1, 2 * limit]) {
        await call(ADD, Buffer.concat([Buffer.from(config), Buffer.alloc(size - config.length, ' ')]));
        assert.equal(onlyCall(agent).input.length, Math.min(size, limit));
      }
    });

    it('carries a very large environment', async () => {
      const large = { ...ADD, CNI_ARGS: 'a'.repeat(120_000), CNI_B: 'b'.repeat(120_000) };
      await call(large, config);
      assert.deepEqual(onlyCall(agent).raw, requestOf(large, config));
    });

    it('exits as the status byte says, whatever the body is', async () => {
      for (const status of ['0', '1'] as const)
        for (const body of ['', '{"code":7}', 'not json\0\n']) {
          agent.reply = answer(status, body);
          const outcome = await call(ADD, config);
          assert.deepEqual(outcome, {
            code: Number(status),
            signal: null,
            stdout: Buffer.from(body),
            stderr: '',
          });
        }
    });

    it('puts an answer together that arrives byte by byte', async () => {
      agent.reply = (connection) => {
        const bytes = [...'0{"ips":[]}'];
        const next = (): void => {
          const byte = bytes.shift();
          if (byte === undefined) connection.end();
          else connection.write(byte, () => setImmediate(next));
        };
        next();
      };
      assert.equal((await call(ADD, config)).stdout.toString(), '{"ips":[]}');
    });

    it('carries an answer of 1 MiB', async () => {
      const body = Buffer.alloc(1024 * 1024, 'x');
      agent.reply = answer('0', body);
      const outcome = await call(ADD, config);
      assert.equal(outcome.code, 0);
      assert.deepEqual(outcome.stdout, body);
    });

    it('answers VERSION alone, also where no agent is', async () => {
      const outcome = await call({ CNI_COMMAND: 'VERSION' }, '{"cniVersion":"1.1.0","socket":"/dev/null/x"}');
      assert.equal(outcome.code, 0);
      assert.deepEqual(JSON.parse(outcome.stdout.toString()), {
        cniVersion: '1.1.0',
        supportedVersions,
      });
      assert.equal(agent.calls.length, 0);
    });

    it('says what it is when it is started without CNI_COMMAND', async () => {
      for (const environment of [{}, { CNI_COMMAND: '' }]) {
        const outcome = await call(environment, '');
        assert.equal(outcome.code, 0);
        assert.equal(outcome.stdout.length, 0);
        assert.equal(
          outcome.stderr,
          `Podwire CNI plugin ${VERSION}\n` +
            `CNI protocol versions supported: ${supportedVersions.join(', ')}\n`,
        );
      }
    });

    it('takes the default socket where the configuration names none', async () => {
      for (const input of [
        '',
        '{}',
        '[]',
        '{"socket":5}',
        '{"socket":""}',
        '{"a":{"socket":"/dev/null/x"}}',
        '{',
      ]) {
        const { code, stdout } = await call(ADD, input);
        assert.equal(code, 1);
        assert.deepEqual(errorObject(stdout), {
          cniVersion: '0.1.0',
          code: 11,
          msg: 'the Podwire agent cannot be reached',
          details: `${DEFAULT_SOCKET}: ENOTDIR`,
        });
      }
    });

    it('names the socket in its error, with the version of the configuration and everything escaped', async () => {
      const odd = '/dev/null/"\\\n\u0001ä😀';
      const { stdout } = await call(ADD, JSON.stringify({ cniVersion: '0.4.0', socket: odd }));
      const error = errorObject(stdout);
      assert.equal(error['details'], `${odd}: ENOTDIR`);
      assert.equal(error['cniVersion'], '0.4.0');
      assert.equal(error['code'], 11);
    });

    it('says 50 for STATUS, which has a code for a plugin that is not available', async () => {
      const { stdout } = await call({ ...ADD, CNI_COMMAND: 'STATUS' }, '{"socket":"/dev/null/x"}');
      assert.equal(errorObject(stdout)['code'], 50);
    });

    it('refuses a socket path that is too long or has a zero byte', async () => {
      for (const wrong of [`/${'x'.repeat(107)}`, `/${'ä'.repeat(54)}`, '/run/a\0b', '\0abstract']) {
        const { code, stdout } = await call(ADD, JSON.stringify({ cniVersion: '1.1.0', socket: wrong }));
        assert.equal(code, 1);
        const error = errorObject(stdout);
        assert.equal(error['code'], 7);
        assert.match(String(error['details']), /107 bytes/);
      }
    });

    it('reaches a socket whose path is as long as a path may be', async () => {
      const long = path.join(folder, 'y'.repeat(107 - folder.length - 1));
      const other = await startFakeAgent(long, answer('0', 'there'));
      assert.equal((await call(ADD, JSON.stringify({ socket: long }))).stdout.toString(), 'there');
      await other.stop();
    });
  });

/** Which forms exist is part of what is tested: a missing compiler must not shrink the suite in silence. */
it('tests both programs', () => {
  const names = programs.map((program: Program) => program.name);
  assert.ok(
    names.some((name) => name.startsWith('C, ')) && names.some((name) => name.startsWith('JavaScript, ')),
  );
});
