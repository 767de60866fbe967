/** Bytes of kube-ovn on the wire and back, in every form, with a node that answers whatever a test wants. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { check, type FakeNode, good, startNode } from './fake-node.js';
import { ADD, answerOf, bodyOf, DEL, failedHere, networkConfig, printedOf } from './kube-ovn.js';
import { buildPrograms, makeFolder, outcomeOf, type Program, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder, { program: 'kube-ovn' });
after(() => fs.rmSync(folder, { recursive: true }));

const socket = path.join(folder, 'socket');
const config = (changes: Readonly<Record<string, unknown>> = {}): string => networkConfig(socket, changes);

let node: FakeNode;
beforeEach(async () => {
  node = await startNode(socket);
});
afterEach(() => node.stop());

const deleted = 'HTTP/1.1 204 No Content\r\nDate: Fri, 27 Nov 2026 06:49:21 GMT\r\n\r\n';
const head = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: dummy\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
  `Content-Type: application/json\r\n\r\n${body}`;

/** Fails with this text. */
async function fails(program: Program, text: string): Promise<void> {
  check(await runProgram(program, ADD, config()), 1, failedHere(text));
}

for (const program of programs)
  describe(program.name, () => {
    it('sends the bytes that the original sends, but for its User-Agent and gzip', async () => {
      node.answer = good(answerOf());
      check(await runProgram(program, { ...ADD, SECRET: 'x' }, config()), 0, printedOf('0.3.1'));
      node.answer = deleted;
      const more = { routes: [{ dst: '1.0.0.0/8' }], vf_driver: 'x', deviceID: 'y' };
      check(await runProgram(program, DEL, config(more)), 0, '');
      assert.deepEqual(node.requests, [
        head('/api/v1/add', bodyOf()),
        head('/api/v1/del', bodyOf({ deviceID: 'y' })),
      ]);
    });

    it('sends what the configuration says, spelled as Go does', async () => {
      node.answer = good(answerOf());
      const routes = [{ dst: '1.0.0.0/8', gw: '1.1.1.1', x: [1] }, { dst: '2.0.0.0/8' }, null, {}];
      const changes = { provider: 'a.b.ovn', deviceID: '0000:00:1f.6', vf_driver: 'vfio\u2028<é"' };
      check(await runProgram(program, ADD, config({ ...changes, routes })), 0, printedOf('0.3.1'));
      check(await runProgram(program, ADD, config({ routes: [] })), 0, printedOf('0.3.1'));
      const none = { dst: '', gw: '' };
      const sent = [{ dst: '1.0.0.0/8', gw: '1.1.1.1' }, { ...none, dst: '2.0.0.0/8' }, none, none];
      const body = bodyOf({ ...changes, routes: sent }).replace('\u2028<', '\\u2028\\u003c');
      assert.deepEqual(node.requests, [
        head('/api/v1/add', body),
        head('/api/v1/add', bodyOf({ routes: [] })),
      ]);
    });

    it('asks for addresses alone where another plugin delegates to it', async () => {
      node.answer = good(answerOf({ nicname: '', mac_address: '' }));
      const ipam = { type: 'kube-ovn', server_socket: socket, provider: 'macvlan.default' };
      const delegated = config({ type: 'macvlan', server_socket: '/none', provider: 'x', ipam });
      const { stdout } = await runProgram(program, { ...ADD, CNI_IFNAME: 'net1' }, delegated);
      const { interfaces } = JSON.parse(stdout.toString()) as { interfaces: unknown };
      assert.deepEqual(interfaces, [{ name: '' }]);
      const own = config({ provider: 'x', ipam });
      await runProgram(program, ADD, own);
      const sent = { cni_type: 'macvlan', if_name: 'net1', provider: 'macvlan.default' };
      assert.deepEqual(node.requests, [
        head('/api/v1/add', bodyOf(sent)),
        head('/api/v1/add', bodyOf({ provider: 'x' })),
      ]);
    });

    it('prints no route without a gateway, and keeps the spelling of what it is given', async () => {
      const answer = {
        protocol: 'IPv6',
        address: 'FD00:0::9',
        cidr: 'fd00::/64',
        gateway: null,
        nicname: 'é<',
      };
      node.answer = good(answerOf({ ...answer, mac_address: undefined }));
      const printed = {
        ...{ cniVersion: '0.4.0', interfaces: [{ name: 'é<' }] },
        ...{ ips: [{ version: '6', address: 'FD00:0::9/64' }], dns: {} },
      };
      const text = JSON.stringify(printed, null, 4).replace('<', '\\u003c');
      check(await runProgram(program, ADD, config({ cniVersion: '0.4.0' })), 0, text);
      const legacy = { cniVersion: '0.2.0', ip6: { ip: 'FD00:0::9/64' }, dns: {} };
      check(
        await runProgram(program, ADD, config({ cniVersion: '0.1.0' })),
        0,
        JSON.stringify(legacy, null, 4),
      );
    });

    const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
      ...[undefined, '', 'ipv4', 4].map((protocol) => [{ protocol }, 'protocol'] as const),
      ...['', '1.2.3', '1.2.3.4 ', '01.2.3.4', 'fd00::1', '1.2.3.4,', 4, '1.2.3.4\0'].map(
        (address) => [{ address }, 'address'] as const,
      ),
      ...['', '1.0.0.0', '1.0.0.0/', '1.0.0.0/33', '1.0.0.0/08', '1.0.0.0/8x', 'fd00::/8', 'x/8', []].map(
        (cidr) => [{ cidr }, 'cidr'] as const,
      ),
      ...['x', 'fd00::1', ',', {}].map((gateway) => [{ gateway }, 'gateway'] as const),
      [{ nicname: 5 }, 'nicname'],
      [{ nicname: 'a'.repeat(128) }, 'nicname'],
      [{ mac_address: true }, 'mac_address'],
      [{ protocol: 'Dual' }, 'address'],
      [{ protocol: 'Dual', address: 'fd00::1,1.2.3.4', cidr: '1.0.0.0/8,fd00::/8', gateway: '' }, 'address'],
      [
        { protocol: 'Dual', address: '1.2.3.4,fd00::1%lo', cidr: '1.0.0.0/8,fd00::/8', gateway: '' },
        'address',
      ],
      [{ protocol: 'Dual', address: '1.2.3.4,fd00::1', cidr: 'fd00::/8,1.0.0.0/8', gateway: '' }, 'cidr'],
      [{ protocol: 'Dual', address: '1.2.3.4,fd00::1', cidr: '1.0.0.0/8,fd00::/129', gateway: '' }, 'cidr'],
    ];
    it('names the field of an answer that it cannot use', async () => {
      for (const [changes, field] of wrong) {
        const body = answerOf(changes);
        node.answer = good(body);
        const { code, stdout } = await runProgram(program, ADD, config());
        const { msg } = JSON.parse(stdout.toString()) as { msg: string };
        assert.equal(code, 1);
        assert.ok(msg.startsWith(`failed to read the response '${body}': \`${field}\` is `), msg);
      }
    });

    it('fails when the answer is no object, or has another status', async () => {
      for (const body of ['', 'oops <é>', '[]', 'null'])
        await ((node.answer = good(body)),
        fails(
          program,
          `failed to read the response '${body}': a JSON object of at most 64 levels is needed`,
        ));
      for (const [status, body, shown] of [
        ['500', '{"error":"no <address>"}', 'no <address>'],
        ['400', '{"error":5}', '{"error":5}'],
        ['404', '404: Page Not Found', '404: Page Not Found'],
      ] as const) {
        node.answer = `HTTP/1.1 ${status} Oh\r\n\r\n${body}`;
        await fails(program, `request ip return ${status} ${shown}`);
      }
      node.answer = deleted;
      await fails(program, 'request ip return 204 ');
      node.answer = good('{}');
      check(await runProgram(program, DEL, config()), 1, failedHere('delete ip return 200 {}'));
    });

    it('does not wait for the end of a connection whose answer is whole', async () => {
      node.answer = (peer: net.Socket) => peer.write(deleted);
      check(await runProgram(program, DEL, config()), 0, '');
      node.answer = (peer: net.Socket) => peer.write(good(answerOf()));
      check(await runProgram(program, ADD, config()), 0, printedOf('0.3.1'));
    });

    it('fails when the answer does not come, or is cut off', async () => {
      node.answer = '';
      await fails(program, 'failed to send CNI request: socket hang up');
      node.answer = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{';
      await fails(program, 'failed to read CNI result: aborted');
    });

    it('fails, but not by a signal, when its output has no reader', async () => {
      node.answer = good(answerOf());
      const child = startProgram(program, ADD);
      child.stdout?.destroy();
      const outcome = outcomeOf(child);
      child.stdin?.end(config());
      const { code, signal } = await outcome;
      assert.deepEqual({ code, signal }, { code: 1, signal: null });
    });
  });
