/** Random configurations and answers through every form of kube-ovn, against the modules of its JavaScript. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { NO_OBJECT, readObject, toJson } from '../json.js';
import { readLease, toResult } from '../lease.js';
import { damagedDocuments, documents } from './documents.js';
import { check, type FakeNode, good, startNode } from './fake-node.js';
import { ADD, answerOf, bodyOf, failedHere, networkConfig, printedOf } from './kube-ovn.js';
import { buildPrograms, makeFolder, runProgram } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder, { program: 'kube-ovn' });
const socket = path.join(folder, 'socket');

let node: FakeNode;
before(async () => {
  node = await startNode(socket);
});
after(async () => {
  await node.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Exit code and output of a program for the body of an answer. */
function expectedOf(body: string, version: string): readonly [code: number, stdout: string] {
  const failure = (fault: string) =>
    [1, failedHere(`failed to read the response '${body}': ${fault}`)] as const;
  const response = readObject(body);
  if (response === undefined) return failure(NO_OBJECT);
  try {
    return [0, toJson(toResult(readLease(response), version), 4)];
  } catch (error) {
    return failure((error as Error).message);
  }
}

/** Addresses, and what is nearly one. */
const addresses = fc
  .tuple(
    fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.constantFrom('', '::ffff:1.2.3.4', '::1.2.3.4', '1:2::3::4'),
    ),
    fc.nat(),
    fc.constantFrom('', '', '', '', ...'0:.,/% ', 'a', '::', '%lo'),
  )
  .map(([text, position, more]) => {
    const at = position % (text.length + 1);
    return `${text.slice(0, at)}${more}${text.slice(at)}`;
  });
const lengths = fc.oneof(fc.nat(130).map(String), fc.constantFrom('', '032', '0', '-1', '1e1', '+8'));
const networks = fc.tuple(addresses, lengths).map((parts) => parts.join('/'));
const listOf = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(items, { minLength: 1, maxLength: 2 }).map((list) => list.join(','));
const texts = fc.string({ unit: 'binary', maxLength: 60 });

const responses = fc.record({
  protocol: fc.constantFrom('IPv4', 'IPv6', 'Dual'),
  address: listOf(addresses),
  cidr: listOf(networks),
  gateway: fc.oneof(listOf(addresses), fc.constant('')),
  nicname: texts,
  mac_address: texts,
});

/** Responses that fit together, so that much is printed. */
const fitting = fc
  .record({
    ...{ ip4: fc.ipV4(), ip6: fc.ipV6(), length4: fc.nat(32), length6: fc.nat(128), nicname: texts },
    ...{ mac_address: texts, hasGateway: fc.boolean(), protocol: fc.constantFrom('IPv4', 'IPv6', 'Dual') },
  })
  .map(({ ip4, ip6, length4, length6, hasGateway, protocol, ...rest }) => {
    const join = (four: string, six: string): string =>
      ({ IPv4: four, IPv6: six, Dual: `${four},${six}` })[protocol] ?? '';
    const cidr = join(`${ip4}/${length4}`, `${ip6}/${length6}`);
    return { protocol, address: join(ip4, ip6), cidr, gateway: hasGateway ? join(ip4, ip6) : '', ...rest };
  });

for (const program of programs)
  describe(program.name, () => {
    it('reads and prints any response as the other program does', async () => {
      const versions = fc.constantFrom('0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0');
      const property = fc.asyncProperty(
        fc.oneof(responses, fitting),
        versions,
        async (response, cniVersion) => {
          const body = JSON.stringify(response);
          node.answer = good(body);
          const outcome = await runProgram(program, ADD, networkConfig(socket, { cniVersion }));
          check(outcome, ...expectedOf(Buffer.from(body).toString(), cniVersion));
        },
      );
      await fc.assert(property, { numRuns: 3 * program.cases });
    });

    it('refuses any other document as the other program does', async () => {
      const bodies = fc.oneof(
        documents.map(({ text }) => Buffer.from(text)),
        damagedDocuments,
      );
      const property = fc.asyncProperty(bodies, async (body) => {
        node.answer = good(body);
        const outcome = await runProgram(program, ADD, networkConfig(socket));
        check(outcome, ...expectedOf(body.toString(), '0.3.1'));
      });
      await fc.assert(property, { numRuns: program.cases });
    });

    it('sends what any configuration says', async () => {
      const routes = fc.option(
        fc.array(fc.oneof(fc.constant(null), fc.record({ dst: texts, gw: texts }, { requiredKeys: [] })), {
          maxLength: 3,
        }),
      );
      const fields = fc.record({ provider: texts, deviceID: texts, vf_driver: texts, routes });
      const property = fc.asyncProperty(fields, documents, async (said, document) => {
        node.answer = good(answerOf());
        const input = `{"nested":${document.text},${networkConfig(socket, said).slice(1)}`;
        check(await runProgram(program, ADD, input), 0, printedOf('0.3.1'));
        const sent = said.routes?.map((route) => ({ dst: route?.dst ?? '', gw: route?.gw ?? '' })) ?? null;
        const body = bodyOf({ ...said, provider: said.provider || 'ovn', routes: sent });
        assert.deepEqual(JSON.parse(node.requests.pop()!.split('\r\n\r\n')[1]!), JSON.parse(body));
      });
      await fc.assert(property, { numRuns: program.cases });
    });

    it('refuses a damaged configuration, but not by a signal', async () => {
      const property = fc.asyncProperty(damagedDocuments, async (input) => {
        const { code, signal, stdout } = await runProgram(program, ADD, input);
        assert.deepEqual({ code, signal }, { code: 1, signal: null });
        const { msg } = JSON.parse(stdout.toString()) as { msg: string };
        const isObject = readObject(input.toString()) !== undefined;
        assert.equal(msg === `error unmarshall network config: ${NO_OBJECT}`, !isObject);
      });
      await fc.assert(property, { numRuns: program.cases });
    });
  });
