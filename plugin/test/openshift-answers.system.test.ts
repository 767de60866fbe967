/** Bytes of openshift-sdn on the wire and back, in every form, with a node that answers whatever a test wants. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { findCompilers } from '../build.js';
import { check, failed, type FakeNode, good } from './fake-node.js';
import { ADD, buildOpenshift, DEL, networkConfig, startFakeNode } from './openshift.js';
import { makeFolder, type Outcome, outcomeOf, type Program, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const { programs, runDirectory } = await buildOpenshift(folder);
after(() => fs.rmSync(folder, { recursive: true }));

const config = path.join(runDirectory, 'config.json');

let node: FakeNode;
beforeEach(async () => {
  node = await startFakeNode(runDirectory);
});
afterEach(() => node.stop());

const HEAD = 'POST / HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\nContent-Length: ';

/** A program that starts another one with the environment of its arguments: names may come twice. */
const starter = path.join(folder, 'starter');
const source =
  '#include <unistd.h>\nint main(int n, char **v) { return execve(v[1], (char *[]){v[1], 0}, v + 2); }';
execFileSync((await findCompilers())[0]!.program, ['-x', 'c', '-o', starter, '-'], { input: source });

/** `pairs` as the shell's printf has them. */
function runWith(program: Program, pairs: readonly string[], input: string): Promise<Outcome> {
  const all = [`PATH=${process.env['PATH']}`, ...pairs].map((pair) => `"$(printf '%b' '${pair}')"`);
  const child = spawn('sh', ['-c', `exec ${starter} ${program.file} ${all.join(' ')}`]);
  child.stdin.end(input);
  return outcomeOf(child);
}

/** Fails with a text that contains this. */
async function fails(program: Program, version: string, text: string): Promise<void> {
  const outcome = await runProgram(program, ADD, networkConfig(version));
  check(outcome, 1, failed(text));
}

for (const program of programs)
  describe(program.name, () => {
    it('sends the bytes that the original sends, but for what it does not make and what is not of CNI', async () => {
      node.answer = good('');
      check(await runProgram(program, { ...DEL, ODD: 'x' }, networkConfig('0.2.0')), 0, '');
      const body =
        '{"env":{"CNI_ARGS":"IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod","CNI_COMMAND":"DEL",' +
        '"CNI_CONTAINERID":"abc","CNI_IFNAME":"eth0","CNI_NETNS":"/run/netns/pod","CNI_PATH":"/opt/cni/bin"},' +
        '"config":"eyJjbmlWZXJzaW9uIjoiMC4yLjAiLCJuYW1lIjoib3BlbnNoaWZ0LXNkbiIsInR5cGUiOiJvcGVuc2hpZnQtc2RuIn0="}';
      assert.deepEqual(node.requests, [`${HEAD}${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`]);
    });

    it('sends each variable once, sorted by bytes, and U+FFFD for what is not UTF-8', async () => {
      node.answer = good('');
      const odd = ['CNI_B=a\\0342\\0202b\\0360\\0237\\0222z\\0377', 'CNI_A1=1', 'CNI_A=<\\01>', 'CNI_A=2', 'CNI_=', 'CNI_\\0303\\0251=3']; // prettier-ignore
      const needed = ['CNI_COMMAND=DEL', 'CNI_IFNAME=x', 'CNI_PATH=y', 'CNI_COMMAND=ADD'];
      check(await runWith(program, [...odd, 'BAGGAGE=b', 'CNI', ...needed], '{}'), 0, '');
      const body = node.requests[0]!.split('\r\n\r\n')[1];
      assert.equal(
        body,
        '{"env":{"BAGGAGE":"b","CNI_":"","CNI_A":"\\u003c\\u0001\\u003e","CNI_A1":"1",' +
          '"CNI_B":"a\ufffdb\ufffdz\ufffd","CNI_COMMAND":"DEL","CNI_IFNAME":"x","CNI_PATH":"y","CNI_é":"3"},' +
          '"config":"e30="}',
      );
    });

    it('carries a configuration of 1 MiB, and of each length of base64', async () => {
      node.answer = good('');
      for (const length of [2, 3, 4, 100_000, 1 << 20]) {
        const input = `{}${' '.repeat(length - 2)}`;
        check(await runProgram(program, DEL, input), 0, '');
        const sent = JSON.parse(node.requests.pop()!.split('\r\n\r\n')[1]!) as { config: string };
        assert.equal(Buffer.from(sent.config, 'base64').toString(), input);
      }
    });

    it('refuses a config.json that it cannot read', async () => {
      const [unread, unparsed] = ['read', 'parse'].map(
        (verb) => `could not ${verb} config file "${config}": `,
      );
      for (const text of ['{', '', '[]', 'null', '{"a":1}x']) {
        fs.writeFileSync(config, text);
        await fails(program, '0.2.0', `${unparsed}a JSON object of at most 64 levels is needed`);
      }
      fs.writeFileSync(config, ' '.repeat((1 << 20) + 1));
      await fails(program, '0.2.0', `${unread}it is longer than 1048576 bytes`);
      fs.rmSync(config);
      fs.mkdirSync(config);
      await fails(program, '0.2.0', `${unread}EISDIR`);
      assert.deepEqual(node.requests, []);
    });

    it('fails when the result is no object of at most 64 levels', async () => {
      for (const body of ['oops <é>', '', '[{"version":"4"}]', '{"ip4":{}},', '{"ip4":.5}', nested(65)]) {
        node.answer = good(body);
        const reason = 'a JSON object of at most 64 levels is needed';
        await fails(program, '0.2.0', `failed to unmarshal response '${body}': ${reason}`);
      }
    });

    const ofOldForm = ['{"dns":{}}', '{"cniVersion":"0.3.1","ips":[{"version":"4"}]}', '{"x":{"ip4":{}}}'];
    const addresses = [
      '',
      '"4"',
      '[]',
      '{"version":4}',
      '{"version":"6"}',
      '{"version":"4"},{"version":"4"}',
    ];
    const ofNewForm = ['{}', '{"ip4":{}}', '{"ips":{}}', ...addresses.map((list) => `{"ips":[${list}]}`)];
    for (const [version, bodies] of [
      ['0.2.0', ofOldForm],
      ['0.3.1', ofNewForm],
    ] as const)
      // prettier-ignore
      it(`fails when the result is not one address of ${version}`, async () => {
        for (const body of bodies) {
          node.answer = good(body);
          await fails(program, version, `Unexpected IPAM result: '${body}'`);
        }
      });

    it('prints a result with four blanks a level, the version in its place, and strings spelled as Go does', async () => {
      const [version, escapes] = [
        '"\\u0063niVersion" : {"a":["}"]}',
        '"\\u00e9\\/\\ud83d\\ude00\\ud83d<&>\\u2028\\u0007"',
      ];
      node.answer = good(`\n{"ip4":{},${version}, "a" :[ ],"b":[1.50,{"cniVersion":1}],\t"c":${escapes}}\r`);
      const printed =
        '{\n    "ip4": {},\n    "cniVersion": "0.2.0",\n    "a": [],\n    "b": [\n        1.50,\n' +
        '        {\n            "cniVersion": 1\n        }\n    ],\n' +
        '    "c": "é/😀\ufffd\\u003c\\u0026\\u003e\\u2028\\u0007"\n}';
      check(await runProgram(program, ADD, networkConfig('0.2.0')), 0, printed);
      node.answer = good('{"ips":[{"version":"\\u0034"}]}');
      const last =
        '{\n    "ips": [\n        {\n            "version": "4"\n        }\n    ],\n    "cniVersion": "0.3.1"\n}';
      check(await runProgram(program, ADD, networkConfig('0.3.1')), 0, last);
    });

    it('prints a result of 1 MiB, and one of 64 levels', async () => {
      const long = { cniVersion: '0.2.0', ip4: null, list: Array.from({ length: 100_000 }, () => 'aé<') };
      node.answer = good(JSON.stringify(long));
      const whole = await runProgram(program, ADD, networkConfig('0.2.0'));
      check(whole, 0, JSON.stringify(long, null, 4).replaceAll('<', '\\u003c'));
      const deepest = JSON.parse(nested(64)) as object;
      node.answer = good(JSON.stringify({ cniVersion: '0.2.0', ...deepest }));
      const printed = JSON.stringify({ cniVersion: '0.2.0', ...deepest }, null, 4);
      check(await runProgram(program, ADD, networkConfig('0.2.0')), 0, printed);
    });

    const bad = 'failed to send CNI request: the answer has no HTTP head';
    const [cut, long] = ['aborted', 'it is longer than 1048576 bytes'].map((reason) => `failed to read CNI result: ${reason}`); // prettier-ignore
    const answers: readonly [title: string, answer: string, text: string][] = [
      ['does not come', '', 'failed to send CNI request: socket hang up'],
      ['is not HTTP', '0{}', bad],
      ['is of another HTTP', 'HTTP/2 200 OK\r\n\r\n', bad],
      ['has no status', 'HTTP/1.1 OK\r\n\r\n', bad],
      ['ends in its head', 'HTTP/1.1 200 OK\r\nConnection: cl', bad],
      ['has a head without an end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1 << 20)}`, bad],
      ['has a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{', bad],
      ['is chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'failed to read CNI result: a Transfer-Encoding is not understood'], // prettier-ignore
      ['is cut off', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', cut!],
      [
        'is cut off far before its end',
        'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{',
        cut!,
      ],
      ['is too long', `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'a'.repeat((1 << 20) + 1)}`, long!],
      ['states that it is too long', `HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n${'a'.repeat((1 << 20) + 1)}`, long!], // prettier-ignore
      ['is an error', 'HTTP/1.1 500 Oh\r\n\r\nno <é>', "CNI request failed with status 500: 'no <é>'"],
      ['is an error without a reason', 'HTTP/1.0 404\r\ncontent-length:\t0 \r\n\r\nx', "CNI request failed with status 404: ''"], // prettier-ignore
    ];
    for (const [title, answer, text] of answers)
      it(`fails when the answer ${title}`, async () => {
        node.answer = answer;
        await fails(program, '0.3.1', text);
      });

    const result = { cniVersion: '0.3.1', ips: [{ version: '4' }] };
    const printed = JSON.stringify(result, null, 4);
    const whole = good(JSON.stringify(result));

    it('reads an answer that ends with the connection, that comes byte by byte, or is followed by more', async () => {
      const byByte = (socket: net.Socket): void => {
        const bytes = [...whole];
        const next = (): void => {
          const byte = bytes.shift();
          if (byte !== undefined) socket.write(Buffer.from([byte]), () => setImmediate(next));
        };
        next();
      };
      const untilEnd = `HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(result)}`;
      for (const answer of [untilEnd, byByte, Buffer.concat([whole, Buffer.alloc(2 << 20, 'x')])]) {
        node.answer = answer;
        check(await runProgram(program, ADD, networkConfig('0.3.1')), 0, printed);
      }
    });

    it('does not wait for the end of a connection whose answer is whole', async () => {
      node.answer = (socket) => socket.write(whole);
      check(await runProgram(program, ADD, networkConfig('0.3.1')), 0, printed);
    });

    it('takes an answer that comes before the request was read, and says so when there is none', async () => {
      const input = `${networkConfig('0.3.1')}${' '.repeat(1 << 19)}`;
      node.onConnection = (socket) => {
        socket.pause();
        socket.write(whole, () => socket.destroy());
      };
      check(await runProgram(program, ADD, input), 0, printed);
      node.onConnection = (socket) => socket.destroy();
      const text = failed('failed to send CNI request: socket hang up');
      check(await runProgram(program, ADD, input), 1, text);
    });

    it('fails, but not by a signal, when its output has no reader', async () => {
      node.answer = whole;
      const child = startProgram(program, ADD);
      child.stdout?.destroy();
      const outcome = outcomeOf(child);
      child.stdin?.end(networkConfig('0.3.1'));
      const { code, signal } = await outcome;
      assert.deepEqual({ code, signal }, { code: 1, signal: null });
    });
  });

/** An object of so many levels. */
function nested(levels: number): string {
  return `{"ip4":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}
