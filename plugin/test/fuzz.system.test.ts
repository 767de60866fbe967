/** Random environments and documents through every form of the plugin. */
import fs from 'node:fs';
import path from 'node:path';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { scanConfig } from '../scan.js';
import { damagedDocuments, documents, spellingsOf } from './documents.js';
import { environments, isCarried } from './environments.js';
import { answer, type FakeAgent, startFakeAgent } from './fake-agent.js';
import { buildPrograms, DEFAULT_SOCKET, makeFolder, runProgram } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder);
after(() => fs.rmSync(folder, { recursive: true }));

const PATH_REFUSED = 'a path of at most 107 bytes is needed';

/** The error that a configuration whose socket cannot be connected to must give: its text is copied, not decoded. */
function expectedError(document: Buffer): Buffer {
  const { socket, version } = scanConfig(document);
  const text = socket?.length ? socket : Buffer.from(DEFAULT_SOCKET);
  const decoded = JSON.parse(`"${text.toString()}"`) as string;
  const refused = Buffer.byteLength(decoded) > 107 || decoded.includes('\0');
  const [code, msg, reason] = refused
    ? [7, 'the network configuration has a `socket` that cannot be used', PATH_REFUSED]
    : [11, 'the Podwire agent cannot be reached', 'ENOTDIR'];
  return Buffer.concat([
    ...[Buffer.from('{"cniVersion":"'), version ?? Buffer.from('0.1.0')],
    ...[Buffer.from(`","code":${code},"msg":"${msg}","details":"`), text, Buffer.from(`: ${reason}"}\n`)],
  ]);
}

/** Only paths below /dev/null: they fail at once, and nothing on the machine can be reached by accident. */
function isHarmless(document: Buffer): boolean {
  const { socket } = scanConfig(document);
  if (!socket?.length) return true;
  return (JSON.parse(`"${socket.toString()}"`) as string).startsWith('/dev/null/');
}

for (const program of programs)
  describe(program.name, () => {
    const socket = path.join(folder, `${programs.indexOf(program)}-ä€😀"\\.sock`);
    let agent: FakeAgent;
    before(async () => {
      agent = await startFakeAgent(socket, answer('0'));
    });
    after(() => agent.stop());

    it('carries any environment and any document to the socket of the outermost object', async () => {
      const property = fc.asyncProperty(
        environments,
        documents,
        fc.constantFrom('0', '1'),
        fc.uint8Array({ maxLength: 50 }),
        spellingsOf(socket),
        async (environment, document, status, body, spelling) => {
          agent.calls.length = 0;
          agent.reply = answer(status, Buffer.from(body));
          const all = { ...environment, CNI_COMMAND: 'ADD' };
          const input = `{"socket":"/dev/null/x","nested":${document.text},"socket":${spelling}}`;
          const outcome = await runProgram(program, all, input);
          const pairs = Object.entries(all).filter(([name]) => isCarried(name));
          assert.deepEqual(outcome, {
            code: Number(status),
            signal: null,
            stdout: Buffer.from(body),
            stderr: '',
          });
          assert.deepEqual(
            agent.calls.map((call) => [call.pairs, call.input.toString()]),
            [[pairs.map(([name, value]) => `${name}=${value}`), input]],
          );
        },
      );
      await fc.assert(property, { numRuns: program.cases });
    });

    it('reads every spelling of a document as JSON does, and damaged ones as the other program does', async () => {
      const inputs = fc
        .oneof(
          documents.map(({ text }) => Buffer.from(text)),
          damagedDocuments,
        )
        .filter(isHarmless);
      const property = fc.asyncProperty(inputs, async (input) => {
        const outcome = await runProgram(program, { CNI_COMMAND: 'DEL' }, input);
        assert.equal(outcome.stdout.toString('latin1'), expectedError(input).toString('latin1'));
        assert.equal(outcome.code, 1);
      });
      await fc.assert(property, { numRuns: 2 * program.cases });
    });
  });
