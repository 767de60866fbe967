/**
 * The plugin by the name of OpenShift SDN's, in every form: its words and its output are those of the original
 * (openshift/sdn at commit f314e1a1b, built and run), and its requests reach Podwire's side of the original's socket.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { after, afterEach, describe, it } from 'node:test';
import { CniError, type Result } from '@podwire/cni';
import { peerCredentials } from '@podwire/linux';
import {
  type OpenshiftCniServer,
  type PodHandler,
  type PodRequest,
  startOpenshiftCniServer,
} from '@podwire/openshift-cni';
import { silentLog, systemClock } from '@podwire/platform';
import { check, failed } from './fake-node.js';
import { ADD, buildOpenshift, DEL, networkConfig } from './openshift.js';
import { makeFolder, outcomeOf, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const { programs, runDirectory } = await buildOpenshift(folder);
after(() => fs.rmSync(folder, { recursive: true }));

const result: Result = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'vethabc', mac: '02:00:00:00:00:01' },
    { name: 'eth0', mac: '0a:58:0a:80:00:05', sandbox: '/run/netns/pod' },
  ],
  ips: [{ interface: 1, address: '10.128.0.5/23', gateway: '10.128.0.1' }],
  routes: [{ dst: '0.0.0.0/0', gw: '10.128.0.1' }, { dst: '10.128.0.0/14' }],
};

for (const program of programs)
  describe(`${program.name}, with Podwire’s server`, () => {
    let server: OpenshiftCniServer | undefined;
    afterEach(async () => {
      await server?.stop(0);
      server = undefined;
    });

    async function start(handle: PodHandler): Promise<void> {
      server = await startOpenshiftCniServer({
        ...{ directory: runDirectory, handle, hostVeth: 'refused', deadline: 30_000, maxConnections: 10 },
        ...{ peerCredentials, clock: systemClock, log: silentLog },
      });
      server.publish({ mtu: 1450, serviceNetworkCidr: '172.30.0.0/16' });
    }

    it('carries an ADD, and prints its result under 0.2.0 as the original does', async () => {
      const requests: PodRequest[] = [];
      await start((request, { answer }) => {
        requests.push(request);
        return answer(result);
      });
      const environment = { ...ADD, TRACEPARENT: '00-1-2-01', SECRET: 'hunter2' };
      const printed = {
        cniVersion: '0.2.0',
        ip4: { ip: '10.128.0.5/23', gateway: '10.128.0.1', routes: result.routes },
        dns: {},
      };
      check(
        await runProgram(program, environment, networkConfig('0.2.0')),
        0,
        JSON.stringify(printed, null, 4),
      );
      const [request] = requests;
      assert.equal(request?.hostVeth, undefined);
      assert.deepEqual(request?.pod, { namespace: 'ns', name: 'pod' });
      assert.deepEqual(Object.fromEntries(request.plugin.environment), {
        ...ADD,
        TRACEPARENT: '00-1-2-01',
      });
      assert.equal(Buffer.from(request.plugin.stdin).toString(), networkConfig('0.2.0'));
    });

    for (const version of ['0.3.0', '0.3.1'])
      it(`prints a result under ${version} with its interfaces`, async () => {
        await start((_request, { answer }) => answer(result));
        const printed = {
          cniVersion: version,
          interfaces: result.interfaces,
          ips: [{ version: '4', interface: 1, address: '10.128.0.5/23', gateway: '10.128.0.1' }],
          routes: result.routes,
          dns: {},
        };
        check(await runProgram(program, ADD, networkConfig(version)), 0, JSON.stringify(printed, null, 4));
      });

    it('takes a configuration without a version for one of 0.1.0', async () => {
      await start((_request, { answer }) => answer(result));
      for (const config of ['{"name":"openshift-sdn"}', '{"name":"openshift-sdn","cniVersion":""}']) {
        const outcome = await runProgram(program, ADD, config);
        assert.equal((JSON.parse(outcome.stdout.toString()) as Result).cniVersion, '0.1.0');
      }
    });

    it('carries a DEL, and prints nothing', async () => {
      const commands: string[] = [];
      await start(({ command }, { answer }) => {
        commands.push(command);
        return answer();
      });
      check(await runProgram(program, { ...DEL, CNI_NETNS: '' }, networkConfig('0.2.0')), 0, '');
      assert.deepEqual(commands, ['DEL']);
    });

    it('prints the error of a handler as the original does', async () => {
      await start(() => Promise.reject(new CniError(11, 'POOL_EXHAUSTED: <no> & é "quoted"')));
      const text = failed(`CNI request failed with status 400: 'POOL_EXHAUSTED: <no> & é "quoted"\n'`);
      check(await runProgram(program, ADD, networkConfig('0.2.0')), 1, text);
    });

    it('prints the refusal of a request as the original does', async () => {
      await start((_request, { answer }) => answer(result));
      const text = failed("CNI request failed with status 400: 'missing K8S_POD_NAME\n'");
      const environment = { ...ADD, CNI_ARGS: 'K8S_POD_NAMESPACE=ns' };
      check(await runProgram(program, environment, networkConfig('0.2.0')), 1, text);
    });

    it('loses no call of many at once', async () => {
      const pods = new Set<string>();
      await start(({ containerId }, { answer }) => {
        pods.add(containerId);
        return answer();
      });
      const ids = Array.from({ length: 10 }, (_, index) => `pod-${index}`);
      const calls = ids.map((id) =>
        runProgram(program, { ...DEL, CNI_CONTAINERID: id }, networkConfig('0.3.1')),
      );
      for (const outcome of await Promise.all(calls)) check(outcome, 0, '');
      assert.deepEqual([...pods].toSorted(), ids);
    });

    it('lets the server roll back when the runtime ends it', async () => {
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      let end: (reason: unknown) => void = () => undefined;
      const ended = new Promise<unknown>((resolve) => (end = resolve));
      await start(async (_request, { signal }) => {
        begin();
        await once(signal, 'abort');
        end(signal.reason);
        throw signal.reason;
      });
      const child = startProgram(program, ADD);
      child.stdin?.end(networkConfig('0.2.0'));
      const outcome = outcomeOf(child);
      await begun;
      child.kill('SIGKILL');
      assert.equal(((await ended) as { code: string }).code, 'CALLER_GONE');
      assert.equal((await outcome).signal, 'SIGKILL');
    });
  });

for (const program of programs)
  describe(`${program.name}, alone`, () => {
    const versions = '["0.1.0","0.2.0","0.3.0","0.3.1"]';

    it('answers VERSION', async () => {
      const expected = `{"cniVersion":"0.3.1","supportedVersions":${versions}}\n`;
      check(await runProgram(program, { CNI_COMMAND: 'VERSION' }, ''), 0, expected);
    });

    it('refuses a version that it does not know', async () => {
      for (const version of ['0.4.0', '0.3', 'é<"\\\n\u2028', 'x'.repeat(100_000)]) {
        const outcome = await runProgram(program, ADD, networkConfig(version));
        const details = `config is "${version}", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1"]`;
        const expected = { code: 1, msg: 'incompatible CNI versions', details };
        assert.deepEqual(JSON.parse(outcome.stdout.toString()), expected);
        assert.match(
          outcome.stdout.toString(),
          /^\{\n {4}"code": 1,\n {4}"msg": "[^"]*",\n {4}"details": ".*"\n\}$/,
        );
        assert.doesNotMatch(outcome.stdout.toString(), /[<\u2028]/);
        assert.equal(outcome.code, 1);
      }
    });

    it('refuses a version that is no text, and takes null for none', async () => {
      const text = 'decoding version from network config: `cniVersion` is no string';
      for (const version of ['5', 'false', '["0.3.1"]', '{"a":"0.3.1"}'])
        check(await runProgram(program, ADD, `{"cniVersion":${version}}`), 1, failed(text));
      const absent = failed('OpenShift SDN network process is not (yet?) available');
      check(await runProgram(program, ADD, '{"cniVersion":"9","cniVersion":null}'), 1, absent);
    });

    it('names the variables that it misses', async () => {
      const missing = failed('required env variables missing');
      check(await runProgram(program, {}, ''), 1, missing, 'CNI_COMMAND env variable missing\n');
      check(
        await runProgram(program, { CNI_COMMAND: '' }, ''),
        1,
        missing,
        'CNI_COMMAND env variable missing\n',
      );
      const named = 'CNI_NETNS env variable missing\nCNI_PATH env variable missing\n';
      check(await runProgram(program, { CNI_COMMAND: 'ADD', CNI_IFNAME: 'eth0' }, ''), 1, missing, named);
      const ofDel = 'CNI_IFNAME env variable missing\n';
      check(await runProgram(program, { ...DEL, CNI_IFNAME: '' }, ''), 1, missing, ofDel);
    });

    for (const command of ['CHECK', 'UPDATE', 'FOO', 'toString', 'add', 'é<"'])
      it(`does not know ${command}`, async () => {
        const outcome = await runProgram(program, { ...ADD, CNI_COMMAND: command }, networkConfig('0.2.0'));
        check(outcome, 1, failed(`unknown CNI_COMMAND: ${command}`));
      });

    it('says so when no server is there', async () => {
      const add = await runProgram(program, ADD, networkConfig('0.2.0'));
      check(add, 1, failed('OpenShift SDN network process is not (yet?) available'));
      const del = await runProgram(program, DEL, networkConfig('0.2.0'));
      check(del, 1, failed(`failed to send CNI request: connect ENOENT ${runDirectory}/socket`));
    });

    it('refuses a configuration that it cannot read, or that is too large', async () => {
      const unread = 'decoding version from network config: a JSON object of at most 64 levels is needed';
      for (const input of ['', ' ', '{', '[]', 'null', '"a"', '{}}', '{"a":01}', `{"a":${'['.repeat(9999)}`])
        check(await runProgram(program, ADD, input), 1, failed(unread));
      const large = await runProgram(program, ADD, Buffer.alloc((1 << 20) + 1, ' '));
      check(large, 1, failed('the network configuration is longer than 1048576 bytes'));
    });

    it('says so when standard input cannot be read', async () => {
      const directory = fs.openSync('/', 'r');
      const outcome = await outcomeOf(startProgram(program, ADD, [directory, 'pipe', 'pipe']));
      fs.closeSync(directory);
      check(outcome, 1, failed('error reading from stdin: EISDIR'));
    });
  });

/** Which forms exist is part of what is tested: a missing compiler must not shrink the suite in silence. */
it('tests both programs', () => {
  const names = programs.map(({ name }) => name).join('\n');
  assert.match(names, /^C, .*JavaScript, /s);
});
