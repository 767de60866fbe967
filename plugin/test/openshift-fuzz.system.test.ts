/** Random environments, configurations and answers through every form of openshift-sdn. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { readAnswer } from '../http.js';
import { indent } from '../indent.js';
import { NO_OBJECT, readObject } from '../json.js';
import { damagedDocuments, documents, replaceHalves } from './documents.js';
import { environments, isCarried } from './environments.js';
import { check, escapeAsGo, failed, type FakeNode, good } from './fake-node.js';
import { ADD, buildOpenshift, DEL, networkConfig, startFakeNode } from './openshift.js';
import { makeFolder, runProgram } from './programs.js';

const folder = makeFolder();
const { programs, runDirectory } = await buildOpenshift(folder);

let node: FakeNode;
before(async () => {
  node = await startFakeNode(runDirectory);
});
after(async () => {
  await node.stop();
  fs.rmSync(folder, { recursive: true });
});

const anyDocuments = fc.oneof(
  documents.map(({ text }) => Buffer.from(text)),
  damagedDocuments,
);

/** Bytes that are not UTF-8 somewhere in a document. */
const anyBytes = fc
  .tuple(anyDocuments, fc.nat(), fc.uint8Array({ maxLength: 8 }))
  .map(([bytes, position, more]) => {
    const at = position % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
  });

/** Exit code and output of a program for the body of an answer under 0.2.0. */
function expectedOf(body: Buffer): readonly [code: number, stdout: string] {
  const text = body.toString();
  const object = readObject(text);
  if (object === undefined) return [1, failed(`failed to unmarshal response '${text}': ${NO_OBJECT}`)];
  if (!('ip4' in object)) return [1, failed(`Unexpected IPAM result: '${text}'`)];
  return [0, indent(text, '0.2.0')];
}

/** Heads that are right, and some that are not quite. */
const heads = fc
  .array(
    fc.constantFrom(
      ...['HTTP/1.1 200 OK', 'HTTP/1.0 200', 'HTTP/1.1 400 Bad Request', 'HTTP/1.1 20 OK', 'HTTP/2 200 OK'],
      ...[
        'Content-Length: 2',
        'content-length:\t12 ',
        'Content-Length: 1 2',
        'Content-Length:',
        'Content-Length: 0',
      ],
      ...[
        'Transfer-Encoding: chunked',
        'X-Transfer-Encoding: x',
        'Content-Length-X: 1',
        ': 3',
        '',
        '\r',
        '\n',
        '\0é',
      ],
    ),
    { maxLength: 4 },
  )
  .map((lines) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n'));
const answers = fc
  .tuple(
    heads,
    fc.constantFrom('', '{}', '{"ip4":1}', '{"ip4":"\r\n\r\n"}'),
    fc.nat(),
    fc.constantFrom(0, 1, 5, 200),
  )
  .map(([head, body, position, cut]) => {
    const bytes = Buffer.from(`${head}${body}`);
    const at = position % bytes.length;
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + cut)]);
  });

for (const program of programs)
  describe(program.name, () => {
    it('sends any environment and any configuration', async () => {
      const property = fc.asyncProperty(environments, documents, async (environment, document) => {
        node.answer = good('');
        const all = { ...environment, ...DEL };
        const input = `{"cniVersion":"0.1.0","nested":${document.text},"cniVersion":null}`;
        check(await runProgram(program, all, input), 0, '');
        const pairs = Object.entries(all)
          .filter(([name]) => isCarried(name))
          .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
        const env = pairs.map(([name, value]) => [name, Buffer.from(value).toString()]);
        const body = {
          env: Object.fromEntries(env) as object,
          config: Buffer.from(input).toString('base64'),
        };
        assert.equal(node.requests.pop()?.split('\r\n\r\n')[1], escapeAsGo(JSON.stringify(body)));
      });
      await fc.assert(property, { numRuns: program.cases });
    });

    it('prints a result that JSON.stringify wrote as JSON.stringify prints it', async () => {
      const property = fc.asyncProperty(documents, async ({ value }) => {
        const result = { ip4: value, cniVersion: '0.1.0', list: [value] };
        node.answer = good(JSON.stringify(result));
        const printed = JSON.stringify({ ...result, cniVersion: '0.2.0' }, null, 4);
        const expected = escapeAsGo(replaceHalves(printed));
        check(await runProgram(program, ADD, networkConfig('0.2.0')), 0, expected);
      });
      await fc.assert(property, { numRuns: program.cases });
    });

    it('reads and prints any document as the other program does, and refuses damaged ones', async () => {
      const members = documents.map(({ text }) =>
        Buffer.from(text.replace('{', '{"ip4":0,').replace(/,\s*\}$/, '}')),
      );
      const property = fc.asyncProperty(fc.oneof(members, anyBytes), async (body) => {
        node.answer = good(body);
        check(await runProgram(program, ADD, networkConfig('0.2.0')), ...expectedOf(body));
      });
      await fc.assert(property, { numRuns: 2 * program.cases });
    });

    it('reads any configuration as the other program does', async () => {
      const property = fc.asyncProperty(anyBytes, async (input) => {
        node.answer = good('{"ip4":0}');
        const outcome = await runProgram(program, ADD, input);
        const version = readObject(input.toString())?.['cniVersion'] ?? '';
        const refused = 'decoding version from network config: ';
        if (readObject(input.toString()) === undefined) check(outcome, 1, failed(`${refused}${NO_OBJECT}`));
        else if (typeof version !== 'string')
          check(outcome, 1, failed(`${refused}\`cniVersion\` is no string`));
        else if (version === '') check(outcome, 0, '{\n    "ip4": 0,\n    "cniVersion": "0.1.0"\n}');
        else assert.match(outcome.stdout.toString(), /"details": "config is /);
      });
      await fc.assert(property, { numRuns: program.cases });
    });

    it('reads any HTTP as the other program does', async () => {
      const property = fc.asyncProperty(answers, async (bytes) => {
        node.answer = bytes;
        const answer = readAnswer(bytes, false);
        const outcome = await runProgram(program, ADD, networkConfig('0.2.0'));
        if (typeof answer === 'string') check(outcome, 1, failed(answer));
        else if (answer.status === '200') check(outcome, ...expectedOf(Buffer.from(answer.text)));
        else check(outcome, 1, failed(`CNI request failed with status ${answer.status}: '${answer.text}'`));
      });
      await fc.assert(property, { numRuns: program.cases });
    });
  });
