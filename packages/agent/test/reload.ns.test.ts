/** A real agent as a service: SIGHUP, what its service manager hears, and pods that notice nothing. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { bind, receive, socket } from '@podwire/linux';
import {
  type Agent,
  createPrivateHost,
  eventually,
  type PrivateHost,
  startAgent,
  startPing,
} from '@podwire/testkit';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const AF_UNIX = 1;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000 | 0o2000000;

let host: PrivateHost;
let agent: Agent;
let manager: number;
before(async () => {
  host = await createPrivateHost({ name: 'reload', world: true });
  const address = path.join(host.directory, 'notify');
  manager = socket(AF_UNIX, SOCK_DGRAM_NONBLOCK, 0);
  bind(manager, Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(address)]));
  agent = await startAgent(host, {
    env: { NOTIFY_SOCKET: address, WATCHDOG_USEC: '200000' },
    config: { networks: [{ name: 'default', pools: [{ cidr: '10.1.0.0/24' }] }] },
  });
});
after(async () => {
  fs.closeSync(manager);
  await host.close();
});

const heard: string[] = [];
/** Messages that the service manager has received so far. */
function listen(): string[] {
  const buffer = Buffer.alloc(4096);
  for (;;) {
    try {
      heard.push(buffer.toString('utf8', 0, receive(manager, buffer)));
    } catch {
      return heard;
    }
  }
}

const change = (more: object): void => {
  const config = JSON.parse(fs.readFileSync(agent.configFile, 'utf8')) as object;
  fs.writeFileSync(agent.configFile, JSON.stringify({ ...config, ...more }));
};
const linesWith = (message: string): number => agent.log().split(`"msg":"${message}`).length - 1;

async function hangUp(message: string): Promise<void> {
  const before = linesWith(message);
  process.kill(agent.pid, 'SIGHUP');
  await eventually(message, () => linesWith(message) > before);
}

test('the service manager hears that the agent is ready, and is fed', async () => {
  await eventually('READY and a fed watchdog', () => {
    const messages = listen();
    const isReady = messages.some((each) => /^READY=1\nSTATUS=ready, 0 endpoints$/.test(each));
    return isReady && messages.filter((each) => each.startsWith('WATCHDOG=1')).length > 3;
  });
});

test('SIGHUP applies what can be changed; a pod that runs loses no packet, the next one gets the new pool', async () => {
  const pod = host.addPod('first');
  const add = async (name: string, netns: string): Promise<string> => {
    const answer = await callPlugin(agent.socket, { command: 'ADD', id: name, netns, config: {} });
    assert.ok(answer?.ok, JSON.stringify(answer?.json));
    return (answer.json['ips'] as { address: string }[])[0]!.address.split('/')[0]!;
  };
  const address = await add('first', pod.path);
  assert.match(address, /^10\.1\./);
  const ping = startPing(host.namespace, address);
  await ping.waitForAnswers(1);
  const networks = [
    {
      name: 'default',
      natOutgoing: false,
      pools: [{ cidr: '10.1.0.0/24', disabled: true }, { cidr: '10.2.0.0/24' }],
    },
  ];
  change({ networks, log: { level: 'debug' }, coolDown: '5s' });
  await hangUp('configuration loaded');
  assert.match(agent.log(), /"level":"warn"[^\n]*"path":"coolDown","reason":"needs a restart of the agent"/);
  const second = host.addPod('second');
  assert.match(await add('second', second.path), /^10\.2\./);
  await ping.waitForAnswers(3);
  assert.deepEqual((await ping.stop()).lost, []);
  assert.ok(listen().some((each) => /^RELOADING=1\nMONOTONIC_USEC=\d+\n/.test(each)));
  assert.equal(listen().filter((each) => each.startsWith('READY=1')).length, 2);
});

test('an invalid file is refused with line and column, and the agent goes on', async () => {
  const good = fs.readFileSync(agent.configFile, 'utf8');
  fs.writeFileSync(agent.configFile, 'nodeName: node1\nlog:\n  level: loud\n');
  await hangUp('the configuration could not be loaded');
  assert.match(agent.log(), /config\.yaml:3:3: log\.level/);
  assert.equal((await askApi(agent.apiSocket, '/v1/status'))['ready'], true);
  fs.writeFileSync(agent.configFile, good);
});
