import { describe, expect, test } from 'vitest';
import { createFakeExec, type FakePlugin } from '../../src/fake.js';
import {
  addWithIpam,
  type AttachmentRequest,
  delegateAdd,
  delegateCheck,
  delegateDel,
  delegateGc,
  delegateStatus,
  type GcRequest,
  ipamType,
  parseRequest,
  PluginError,
  type StatusRequest,
} from '../../src/index.js';

const addresses = { cniVersion: '1.0.0', ips: [{ address: '10.0.0.2/24' }] };

function setUp(ipam: FakePlugin, command = 'ADD', config: object = { ipam: { type: 'ipam' } }) {
  const stdin = Buffer.from(JSON.stringify({ cniVersion: '1.1.0', name: 'net', type: 'me', ...config }));
  const env = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: 'pod',
    CNI_NETNS: '/run/netns/pod',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/a:/b',
    CNI_ARGS: 'IP=10.0.0.2',
    HOME: '/root',
    UNSET: undefined,
  };
  const exec = createFakeExec({ ipam });
  const log = { text: '' };
  const context = { env, exec, stderr: { write: (text: string) => (log.text += text) } };
  return { request: parseRequest(env, stdin), context, exec, env, stdin, log };
}

test('ADD: whole environment, only the command changed; the very bytes; standard error passed on', async () => {
  const { request, context, exec, stdin, log } = setUp(() => ({ result: addresses, stderr: 'note\n' }));
  expect(await delegateAdd('ipam', request as AttachmentRequest, context)).toEqual(addresses);
  expect(exec.calls[0]?.env).toEqual({
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: 'pod',
    CNI_NETNS: '/run/netns/pod',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/a:/b',
    CNI_ARGS: 'IP=10.0.0.2',
    HOME: '/root',
  });
  expect(exec.calls[0]?.stdin).toBe(stdin.toString());
  expect(log.text).toBe('note\n');
});

test.each([
  ['DEL', delegateDel],
  ['CHECK', delegateCheck],
  ['GC', delegateGc],
  ['STATUS', delegateStatus],
] as const)('%s is passed on, and so is its failure', async (command, delegate) => {
  let fail = false;
  const { request, context, exec } = setUp(() => (fail ? { error: { code: 50, msg: 'full' } } : {}), command);
  const ask = () => (delegate as typeof delegateGc)('ipam', request as GcRequest & StatusRequest, context);
  await ask();
  expect(exec.calls[0]?.command).toBe(command);
  fail = true;
  await expect(ask()).rejects.toMatchObject({ code: 50, plugin: 'ipam' });
});

test('a plugin that is not in CNI_PATH', async () => {
  const { request, context } = setUp(() => {});
  await expect(delegateAdd('nowhere', request as AttachmentRequest, context)).rejects.toMatchObject({
    code: 5,
    message: expect.stringContaining('/a, /b') as string,
  });
});

test('ipamType', () => {
  expect(ipamType(setUp(() => {}).request as AttachmentRequest)).toBe('ipam');
  expect(() => ipamType(setUp(() => {}, 'ADD', {}).request as AttachmentRequest)).toThrow(
    'ipam.type: is missing',
  );
});

describe('addWithIpam', () => {
  const commands = (calls: readonly { command: string }[]) => calls.map(({ command }) => command);

  test('hands the addresses on', async () => {
    const { request, context, exec } = setUp(() => ({ result: addresses }));
    const result = await addWithIpam(request as AttachmentRequest, context, (ipam) => ipam);
    expect(result).toEqual(addresses);
    expect(commands(exec.calls)).toEqual(['ADD']);
  });
  test('gives them back when the rest fails', async () => {
    const { request, context, exec } = setUp(({ command }) =>
      command === 'ADD' ? { result: addresses } : {},
    );
    const work = addWithIpam(request as AttachmentRequest, context, () => Promise.reject(new Error('veth')));
    await expect(work).rejects.toThrow('veth');
    expect(commands(exec.calls)).toEqual(['ADD', 'DEL']);
  });
  test('DELs after a failed ADD; the first error is the one that counts', async () => {
    const { request, context, exec, log } = setUp(({ command }) => ({
      error: { code: 11, msg: `${command} full` },
    }));
    const work = addWithIpam(request as AttachmentRequest, context, (ipam) => ipam);
    await expect(work).rejects.toBeInstanceOf(PluginError);
    await expect(work).rejects.toMatchObject({ code: 11, pluginMessage: 'ADD full' });
    expect(commands(exec.calls)).toEqual(['ADD', 'DEL']);
    expect(log.text).toContain('DEL full');
  });
});
