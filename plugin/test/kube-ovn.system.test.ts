/**
 * The plugin by the name of Kube-OVN's, in every form: its words and its output are those of the original (kube-ovn v1.8.2,
 * built and run), and its requests reach Podwire's side of the original's socket.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { PodwireError } from '@podwire/errors';
import {
  type CniRequest,
  type CniResponse,
  type KubeOvnCniServer,
  type KubeOvnHandlers,
  pluginVersions,
  serveKubeOvnCni,
  toCniResult,
} from '@podwire/kube-ovn-cni';
import { peerCredentials } from '@podwire/linux';
import { silentLog, systemClock } from '@podwire/platform';
import { check, failed } from './fake-node.js';
import { ADD, DEL, failedHere, networkConfig } from './kube-ovn.js';
import { buildPrograms, makeFolder, outcomeOf, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder, { program: 'kube-ovn' });
after(() => fs.rmSync(folder, { recursive: true }));

const socket = path.join(folder, 'openvswitch/kube-ovn-daemon.sock');
const config = (changes: Readonly<Record<string, unknown>> = {}): string => networkConfig(socket, changes);

const dual: CniResponse = {
  ...{ protocol: 'Dual', ipAddress: '10.16.0.9,fd00:10:16::9', macAddress: '00:00:00:B8:58:AB' },
  ...{ cidr: '10.16.0.0/16,fd00:10:16::/112', gateway: '10.16.0.1,fd00:10:16::1', mtu: 1400 },
  ...{ podNicName: 'eth0', err: '' },
};

for (const program of programs)
  describe(`${program.name}, with Podwire’s server`, () => {
    let server: KubeOvnCniServer | undefined;
    let handlers: { -readonly [Name in keyof KubeOvnHandlers]: KubeOvnHandlers[Name] };
    const requests: CniRequest[] = [];
    beforeEach(async () => {
      requests.length = 0;
      handlers = {
        add: (request) => (requests.push(request), Promise.resolve(dual)),
        del: (request) => (requests.push(request), Promise.resolve()),
      };
      server = await serveKubeOvnCni({
        handlers: { add: (...call) => handlers.add(...call), del: (...call) => handlers.del(...call) },
        ...{ socketPath: socket, deadline: 30_000, maxConnections: 100 },
        ...{ peerCredentials, clock: systemClock, log: silentLog },
      });
    });
    afterEach(() => server?.stop(0));

    it('carries an ADD, and prints its result under each version as the library has it', async () => {
      for (const cniVersion of pluginVersions) {
        const outcome = await runProgram(program, ADD, config({ cniVersion }));
        check(outcome, 0, JSON.stringify(toCniResult(dual, cniVersion), null, 4));
      }
      assert.equal(requests.length, 5);
      assert.deepEqual(requests[0], {
        ...{ cniType: 'kube-ovn', podName: 'pod', podNamespace: 'ns', containerId: '532bed4f476d' },
        ...{
          netNs: '/proc/10112/ns/net',
          ifName: 'eth0',
          provider: 'ovn',
          routes: [],
          vfDriver: '',
          deviceId: '',
        },
      });
    });

    it('takes a configuration without a version for one of 0.1.0', async () => {
      const printed = JSON.stringify(toCniResult(dual, '0.1.0'), null, 4);
      for (const cniVersion of [undefined, '', null])
        check(await runProgram(program, ADD, config({ cniVersion })), 0, printed);
    });

    it('carries a DEL on a connection that stays open, and prints nothing', async () => {
      check(await runProgram(program, { ...DEL, CNI_NETNS: '' }, config()), 0, '');
      assert.equal(requests[0]?.netNs, '');
    });

    it('prints the refusal of a request and the error of a handler as the original does', async () => {
      handlers.add = () =>
        Promise.reject(new PodwireError('REQUEST_INVALID', 'provider <x> not bind to any subnet'));
      const refused = failedHere('request ip return 400 provider <x> not bind to any subnet');
      check(await runProgram(program, ADD, config()), 1, refused);
      handlers.del = () => Promise.reject(new Error('del nic failed "x"'));
      check(
        await runProgram(program, DEL, config()),
        1,
        failedHere('delete ip return 500 del nic failed "x"'),
      );
    });

    it('loses no call of many at once', async () => {
      const ids = Array.from({ length: 10 }, (_, index) => `pod-${index}`);
      const calls = ids.map((id) => runProgram(program, { ...DEL, CNI_CONTAINERID: id }, config()));
      for (const outcome of await Promise.all(calls)) check(outcome, 0, '');
      assert.deepEqual(new Set(requests.map(({ containerId }) => containerId)), new Set(ids));
    });
  });

for (const program of programs)
  describe(`${program.name}, without a server`, () => {
    it('says which versions it supports', async () => {
      const versions =
        '{"cniVersion":"0.4.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0"]}\n';
      check(await runProgram(program, { CNI_COMMAND: 'VERSION' }, ''), 0, versions);
    });

    it('refuses a version that it does not support, or that is no text', async () => {
      for (const cniVersion of ['1.0.0', '0.3', 'é<"\\\n\u2028']) {
        const details = `config is "${cniVersion}", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0"]`;
        const outcome = await runProgram(program, ADD, config({ cniVersion }));
        assert.deepEqual(JSON.parse(outcome.stdout.toString()), {
          code: 1,
          msg: 'incompatible CNI versions',
          details,
        });
      }
      const text = 'decoding version from network config: `cniVersion` is no string';
      check(await runProgram(program, ADD, config({ cniVersion: 5 })), 1, failed(text, 6));
    });

    it('has no CHECK, and says so where the original ends by a signal', async () => {
      const CHECK = { ...ADD, CNI_COMMAND: 'CHECK' };
      const old = failed('config version does not allow CHECK', 1);
      check(await runProgram(program, CHECK, config()), 1, old);
      const newer = failed('plugin version does not allow CHECK', 1);
      check(await runProgram(program, CHECK, config({ cniVersion: '0.4.0' })), 1, newer);
    });

    const missing: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{}, 'CNI_COMMAND'],
      [{ CNI_COMMAND: '' }, 'CNI_COMMAND'],
      [{ CNI_COMMAND: 'ADD' }, 'CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH'],
      [{ CNI_COMMAND: 'CHECK', CNI_PATH: '/x' }, 'CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME'],
      [{ CNI_COMMAND: 'DEL', CNI_IFNAME: 'eth0' }, 'CNI_CONTAINERID,CNI_PATH'],
    ];
    it('names the variables that it misses', async () => {
      for (const [environment, names] of missing)
        check(
          await runProgram(program, environment, ''),
          1,
          failed(`required env variables [${names}] missing`, 4),
        );
    });

    it('refuses commands, container ids and interface names that it does not know', async () => {
      const call = (changes: Readonly<Record<string, string>>) =>
        runProgram(program, { ...ADD, ...changes }, config());
      for (const name of ['FOO', 'add', 'toString', 'é<"'])
        check(await call({ CNI_COMMAND: name }), 1, failed(`unknown CNI_COMMAND: ${name}`, 4));
      check(await call({ CNI_COMMAND: 'FOO', CNI_CONTAINERID: '' }), 1, failed('missing containerID', 3));
      for (const id of ['../x', '-a', 'a b', 'é'])
        check(await call({ CNI_CONTAINERID: id }), 1, failed('invalid characters in containerID', 4, id));
      const long = failed(
        'interface name is too long',
        4,
        'interface name should be less than 16 characters',
      );
      check(await call({ CNI_IFNAME: 'a'.repeat(16) }), 1, long);
      check(await call({ CNI_IFNAME: '..' }), 1, failed('interface name is . or ..', 4));
      const spaced = failed('interface name contains / or : or whitespace characters', 4);
      for (const name of ['a b', 'a/b', 'a:b', '\t']) check(await call({ CNI_IFNAME: name }), 1, spaced);
    });

    it('refuses a configuration that it cannot read, or that has no name', async () => {
      const unread = 'error unmarshall network config: a JSON object of at most 64 levels is needed';
      for (const input of ['', '{', '[]', 'null', '{}}', `{"a":${'['.repeat(9999)}`])
        check(await runProgram(program, ADD, input), 1, failed(unread, 6));
      for (const name of [undefined, null, ''])
        check(await runProgram(program, ADD, config({ name })), 1, failed('missing network name', 7));
      for (const name of ['a b', '-', 'a'.repeat(256)]) {
        const invalid = failed('invalid characters found in network name', 7, name);
        check(await runProgram(program, ADD, config({ name })), 1, invalid);
      }
      const number = failed('error unmarshall network config: `name` is no string', 6);
      check(await runProgram(program, ADD, config({ name: 12 })), 1, number);
      const large = failed('the network configuration is longer than 1048576 bytes', 5);
      check(await runProgram(program, ADD, Buffer.alloc((1 << 20) + 1, ' ')), 1, large);
    });

    it('names the field of a configuration that it cannot use', async () => {
      const wrong = (problem: string): string => failedHere(`failed to load netconf: ${problem}`);
      for (const field of ['type', 'server_socket', 'provider', 'deviceID', 'vf_driver'])
        check(await runProgram(program, ADD, config({ [field]: 5 })), 1, wrong(`\`${field}\` is no string`));
      for (const routes of [{}, 'x', ['x'], [{ dst: '1.0.0.0/8' }, 5]])
        check(await runProgram(program, ADD, config({ routes })), 1, wrong('`routes` is no list of objects'));
      check(await runProgram(program, ADD, config({ routes: [{ gw: 5 }] })), 1, wrong('`gw` is no string'));
      const ipam = config({ type: 'macvlan', ipam: 'x' });
      check(await runProgram(program, ADD, ipam), 1, wrong('`ipam` is no object'));
    });

    it('needs a socket, and a pod in CNI_ARGS', async () => {
      const required = failedHere('server_socket is required in cni.conf');
      check(await runProgram(program, ADD, config({ server_socket: undefined })), 1, required);
      check(await runProgram(program, ADD, config({ type: 'macvlan', ipam: {} })), 1, required);
      const long = failedHere('server_socket must be a path of at most 107 bytes');
      for (const server_socket of [`/${'a'.repeat(107)}`, '/a\0b'])
        check(await runProgram(program, ADD, config({ server_socket })), 1, long);
      const call = (args: string) => runProgram(program, { ...ADD, CNI_ARGS: args }, config());
      check(await call(''), 1, failedHere('CNI_ARGS is required'));
      for (const args of ['A=B', 'K8S_POD_NAME=', 'XK8S_POD_NAME=a;K8S_POD_NAME'])
        check(await call(args), 1, failedHere('K8S_POD_NAME is required in CNI_ARGS'));
      check(await call('K8S_POD_NAME=a'), 1, failedHere('K8S_POD_NAMESPACE is required in CNI_ARGS'));
    });

    it('says so when no server is there, and when standard input cannot be read', async () => {
      const gone = failedHere('failed to send CNI request: connect ENOENT /nonexistent/é<"');
      check(await runProgram(program, ADD, config({ server_socket: '/nonexistent/é<"' })), 1, gone);
      const directory = fs.openSync('/', 'r');
      const outcome = await outcomeOf(startProgram(program, ADD, [directory, 'pipe', 'pipe']));
      fs.closeSync(directory);
      check(outcome, 1, failed('error reading from stdin: EISDIR', 5));
    });
  });

/** Which forms exist is part of what is tested: a missing compiler must not shrink the suite in silence. */
it('tests both programs', () => {
  const names = programs.map(({ name }) => name).join('\n');
  assert.match(names, /^C, .*JavaScript, /s);
});
