/**
 * The plugin by the name of OpenShift SDN's: its words and its output are those of the original (openshift/sdn at commit
 * f314e1a1b, built and run), and its requests reach Podwire's side of the original's socket.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
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
import { bundleOpenshift } from '../build.js';
import { makeFolder, type Outcome, outcomeOf, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const runDirectory = path.join(folder, 'run/cniserver');
const program = { name: 'openshift-sdn', file: path.join(folder, 'openshift-sdn'), cases: 1, parallel: 1 };
await bundleOpenshift({
  sources: path.resolve(import.meta.dirname, '../..'),
  output: program.file,
  runDirectory,
});
after(() => fs.rmSync(folder, { recursive: true }));

const networkConfig = (cniVersion: string): string =>
  JSON.stringify({ cniVersion, name: 'openshift-sdn', type: 'openshift-sdn' });
const variables = {
  CNI_CONTAINERID: 'abc',
  CNI_NETNS: '/run/netns/pod',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod',
};
const ADD = { CNI_COMMAND: 'ADD', ...variables };
const DEL = { CNI_COMMAND: 'DEL', ...variables };

const result: Result = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'vethabc', mac: '02:00:00:00:00:01' },
    { name: 'eth0', mac: '0a:58:0a:80:00:05', sandbox: '/run/netns/pod' },
  ],
  ips: [{ interface: 1, address: '10.128.0.5/23', gateway: '10.128.0.1' }],
  routes: [{ dst: '0.0.0.0/0', gw: '10.128.0.1' }, { dst: '10.128.0.0/14' }],
};

/** The output of an error. */
const failed = (msg: string, code = 100): string =>
  `{\n    "code": ${code},\n    "msg": ${JSON.stringify(msg)}\n}`;

function check(outcome: Outcome, code: number, stdout: string, stderr = ''): void {
  assert.equal(outcome.stderr, stderr);
  assert.equal(outcome.stdout.toString(), stdout);
  assert.equal(outcome.code, code);
}

describe('the plugin of OpenShift SDN with Podwire’s server', () => {
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
    assert.deepEqual(Object.fromEntries(request.plugin.environment), { ...ADD, TRACEPARENT: '00-1-2-01' });
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
    const outcome = await runProgram(program, ADD, '{"name":"openshift-sdn"}');
    assert.equal((JSON.parse(outcome.stdout.toString()) as Result).cniVersion, '0.1.0');
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
    const escaped = text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026');
    check(await runProgram(program, ADD, networkConfig('0.2.0')), 1, escaped);
  });

  it('prints the refusal of a request as the original does', async () => {
    await start((_request, { answer }) => answer(result));
    const text = failed("CNI request failed with status 400: 'missing K8S_POD_NAME\n'");
    const environment = { ...ADD, CNI_ARGS: 'K8S_POD_NAMESPACE=ns' };
    check(await runProgram(program, environment, networkConfig('0.2.0')), 1, text);
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

describe('the plugin of OpenShift SDN alone', () => {
  const versions = '["0.1.0","0.2.0","0.3.0","0.3.1"]';

  it('answers VERSION', async () => {
    const expected = `{"cniVersion":"0.3.1","supportedVersions":${versions}}\n`;
    check(await runProgram(program, { CNI_COMMAND: 'VERSION' }, ''), 0, expected);
  });

  it('refuses a version that it does not know', async () => {
    const details = 'config is "0.4.0", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1"]';
    const expected = JSON.stringify({ code: 1, msg: 'incompatible CNI versions', details }, null, 4);
    check(await runProgram(program, ADD, networkConfig('0.4.0')), 1, expected);
  });

  it('names the variables that it misses', async () => {
    const missing = failed('required env variables missing');
    check(await runProgram(program, {}, ''), 1, missing, 'CNI_COMMAND env variable missing\n');
    const named = 'CNI_NETNS env variable missing\nCNI_PATH env variable missing\n';
    check(await runProgram(program, { CNI_COMMAND: 'ADD', CNI_IFNAME: 'eth0' }, ''), 1, missing, named);
  });

  for (const command of ['CHECK', 'UPDATE', 'FOO'])
    it(`does not know ${command}`, async () => {
      const outcome = await runProgram(program, { ...ADD, CNI_COMMAND: command }, networkConfig('0.2.0'));
      check(outcome, 1, failed(`unknown CNI_COMMAND: ${command}`));
    });

  it('says so when no server is there', async () => {
    const add = await runProgram(program, ADD, networkConfig('0.2.0'));
    check(add, 1, failed('OpenShift SDN network process is not (yet?) available'));
    const del = await runProgram(program, DEL, networkConfig('0.2.0'));
    assert.match(del.stdout.toString(), /"msg": "failed to send CNI request: .*ENOENT/);
    assert.equal(del.code, 1);
  });

  it('refuses a configuration that it cannot read, or that is too large', async () => {
    for (const input of ['', '{', '[]', 'null']) {
      const outcome = await runProgram(program, ADD, input);
      assert.match(outcome.stdout.toString(), /"msg": "decoding version from network config: /);
      assert.equal(outcome.code, 1);
    }
    const large = await runProgram(program, ADD, Buffer.alloc((1 << 20) + 1, ' '));
    check(large, 1, failed('the network configuration is longer than 1048576 bytes'));
  });
});

describe('the plugin of OpenShift SDN with a server that is another one', () => {
  const answers = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      if (/\}$/.test(received)) socket.end(answer);
    });
  });
  let answer = '';
  let received = '';
  after(() => {
    answers.close();
    fs.rmSync(runDirectory, { recursive: true });
  });
  const http = (body: string): string => `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`;
  const config = path.join(runDirectory, 'config.json');

  it('is given a directory', async () => {
    fs.mkdirSync(runDirectory, { recursive: true });
    answers.listen(path.join(runDirectory, 'socket'));
    await once(answers, 'listening');
  });

  it('refuses a config.json that it cannot read', async () => {
    fs.writeFileSync(config, '{');
    const broken = await runProgram(program, ADD, networkConfig('0.2.0'));
    assert.ok(broken.stdout.toString().includes(`could not parse config file \\"${config}\\": `));
    fs.rmSync(config);
    fs.mkdirSync(config);
    const unreadable = await runProgram(program, ADD, networkConfig('0.2.0'));
    assert.ok(unreadable.stdout.toString().includes(`could not read config file \\"${config}\\": EISDIR`));
    fs.rmdirSync(config);
    fs.writeFileSync(config, '{"mtu":1450}');
  });

  it('sends the bytes that the original sends, but for what it does not make and what is not of CNI', async () => {
    [answer, received] = [http(''), ''];
    check(await runProgram(program, { ...DEL, ODD: 'x' }, networkConfig('0.2.0')), 0, '');
    const [head = '', body] = received.split('\r\n\r\n');
    assert.match(head, /^POST \/ HTTP\/1\.1\r\n/);
    assert.match(head, /^Host: dummy$/im);
    assert.match(head, /^Content-Type: application\/json$/im);
    assert.equal(
      body,
      '{"env":{"CNI_ARGS":"IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod","CNI_COMMAND":"DEL",' +
        '"CNI_CONTAINERID":"abc","CNI_IFNAME":"eth0","CNI_NETNS":"/run/netns/pod","CNI_PATH":"/opt/cni/bin"},' +
        '"config":"eyJjbmlWZXJzaW9uIjoiMC4yLjAiLCJuYW1lIjoib3BlbnNoaWZ0LXNkbiIsInR5cGUiOiJvcGVuc2hpZnQtc2RuIn0="}',
    );
  });

  const unusable: readonly [string, string, string, RegExp][] = [
    ['is no JSON', '0.2.0', http('oops'), /failed to unmarshal response 'oops': /],
    ['has no address', '0.2.0', http('{"dns":{}}'), /Unexpected IPAM result/],
    ['is of another version', '0.2.0', http('{"cniVersion":"0.3.1","ips":[]}'), /Unexpected IPAM result/],
    ['has no IPv4 address', '0.3.1', http('{"ips":[{"version":"6"}]}'), /Unexpected IPAM result/],
    [
      'has two addresses',
      '0.3.1',
      http('{"ips":[{"version":"4"},{"version":"4"}]}'),
      /Unexpected IPAM result/,
    ],
    ['is too long', '0.3.1', http('a'.repeat((1 << 20) + 1)), /failed to read CNI result: it is longer than/],
    [
      'is cut off',
      '0.3.1',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{',
      /failed to read CNI result: aborted/,
    ],
    ['does not come', '0.3.1', '', /failed to send CNI request: socket hang up/],
  ];
  for (const [title, version, text, expected] of unusable)
    it(`fails when the answer ${title}`, async () => {
      [answer, received] = [text, ''];
      const outcome = await runProgram(program, ADD, networkConfig(version));
      assert.match(outcome.stdout.toString(), expected);
      assert.equal(outcome.code, 1);
    });
});
