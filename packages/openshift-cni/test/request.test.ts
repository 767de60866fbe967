import { CniError, parseRequest } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { describe, expect, test } from 'vitest';
import { decodeRequest, type DecodeOptions } from '../src/index.js';
import { addBody, environment, networkConfig, refusals } from './recorded.js';
import { buildBody, type Changes } from './support.js';

const decode = (body: string, hostVeth: DecodeOptions['hostVeth'] = 'required') =>
  decodeRequest(Buffer.from(body), { hostVeth });
const config = { cniVersion: '0.2.0', name: 'openshift-sdn', type: 'openshift-sdn' };

describe('a request', () => {
  test('of the original plugin becomes one of Podwire’s, without the rest of the environment', () => {
    const request = decode(addBody);
    expect(request).toMatchObject({
      ...{ command: 'ADD', containerId: 'abc', netns: '/run/netns/pod', interfaceName: 'eth0' },
      ...{ pod: { namespace: 'ns', name: 'pod' }, config, hostVeth: 'veth289b6650' },
    });
    expect(Object.fromEntries(request.plugin.environment)).toEqual(environment);
    expect(Buffer.from(request.plugin.stdin).toString()).toBe(networkConfig);
  });

  test('is taken by the parser of Podwire’s own server', () => {
    const { environment: pairs, stdin } = decode(addBody).plugin;
    expect(parseRequest(pairs, stdin)).toMatchObject({ command: 'ADD', containerId: 'abc', config });
  });

  test('carries the variables for traces', () => {
    const { plugin } = decode(buildBody({ with: { TRACEPARENT: '00-1-2-01', TRACE: 'x', CNI_OTHER: 'x' } }));
    expect(Object.fromEntries(plugin.environment)).toEqual({ ...environment, TRACEPARENT: '00-1-2-01' });
  });

  test('may have spaces around arguments, which are not passed on', () => {
    const { pod, plugin } = decode(
      buildBody({ with: { CNI_ARGS: ' K8S_POD_NAMESPACE = ns ;K8S_POD_NAME=x' } }),
    );
    expect(pod).toEqual({ namespace: 'ns', name: 'x' });
    expect(new Map(plugin.environment).get('CNI_ARGS')).toBe('K8S_POD_NAMESPACE=ns;K8S_POD_NAME=x');
  });

  test('without CNI_IFNAME is about eth0', () => {
    const { interfaceName, plugin } = decode(buildBody({ without: 'CNI_IFNAME' }));
    expect(interfaceName).toBe('eth0');
    expect(new Map(plugin.environment).get('CNI_IFNAME')).toBe('eth0');
  });

  test('of DEL needs no veth pair and no namespace', () => {
    const request = decode(buildBody({ without: 'hostVeth', with: { CNI_COMMAND: 'DEL', CNI_NETNS: '' } }));
    expect(request).toMatchObject({ command: 'DEL', netns: '' });
    expect(request).not.toHaveProperty('hostVeth');
  });

  test('of ADD comes without a veth pair where the server makes it, and only so', () => {
    expect(decode(buildBody({ without: 'hostVeth' }), 'refused')).not.toHaveProperty('hostVeth');
    expect(() => decode(buildBody(), 'refused')).toThrow(
      'HostVeth is veth1, but this node makes links itself',
    );
    expect(decode(buildBody({ with: { CNI_COMMAND: 'DEL' } }), 'refused').command).toBe('DEL');
  });
});

describe('refused, with the words of the original, is a request', () => {
  test.each(refusals)('$text', ({ text, ...changes }) => {
    expect(errorOf(() => decode(buildBody(changes)))).toMatchObject({
      code: 'REQUEST_INVALID',
      message: text,
    });
  });

  test('that is null', () => {
    expect(errorOf(() => decode('null'))).toMatchObject({ message: 'unexpected or missing CNI_COMMAND' });
  });
});

const malformed: readonly [string, string, string][] = [
  ['is empty', '', 'is empty'],
  ['is no JSON', '{', 'is no JSON'],
  ['is a list', '[]', 'the request is no object'],
  ['has a list as environment', '{"env":[]}', 'env is no object'],
  ['has a variable that is no text', '{"env":{"A":1}}', 'env.A is no string'],
  ['has a variable with a zero byte', '{"env":{"A":"\\u0000"}}', 'env.A holds a zero byte'],
  ['has a configuration that is no text', '{"config":1}', 'config is no string'],
  ['has a configuration that is not base64', '{"config":"e30"}', 'config is no base64 text'],
  ['has a configuration of other characters', '{"config":"e-0="}', 'config is no base64 text'],
  ['has a veth that is no text', '{"hostVeth":1}', 'hostVeth is no string'],
  ['says a variable twice', '{"env":{"A":"1","A":"2"}}', 'twice'],
  ['is too deep', `{"x":${'['.repeat(40)}${']'.repeat(40)}}`, 'nested deeper'],
];

describe('refused is JSON that', () => {
  test.each(malformed)('%s', (_title, body, reason) => {
    const error = errorOf(() => decode(body));
    expect(error).toBeInstanceOf(PodwireError);
    expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
    expect(error.message).toMatch(/^JSON unmarshal error: /);
    expect(error.message).toContain(reason);
  });
});

const dangerous: readonly [string, Changes, number][] = [
  ['a container id that is a path', { with: { CNI_CONTAINERID: '../x' } }, 4],
  ['an interface name that is too long', { with: { CNI_IFNAME: 'a'.repeat(16) } }, 4],
  ['no configuration', { config: '' }, 6],
  ['a configuration that is no JSON', { config: '{' }, 6],
  ['a configuration without a name', { config: '{"cniVersion":"0.2.0"}' }, 7],
  ['a version that does not exist', { config: '{"cniVersion":"9.0.0","name":"x"}' }, 1],
];

describe('refused, though the original does not look at it, is', () => {
  test.each(dangerous)('%s', (_title, changes, code) => {
    const error = errorOf(() => decode(buildBody(changes)));
    expect(error).toBeInstanceOf(CniError);
    expect(error).toMatchObject({ code });
  });

  test('a veth with the name of a path', () => {
    expect(() => decode(buildBody().replace('veth1', '../veth'))).toThrow(CniError);
  });

  test('an ADD without a namespace or the names of a pod', () => {
    expect(errorOf(() => decode(buildBody({ with: { CNI_NETNS: '' } }))).message).toBe('missing CNI_NETNS');
    const args = 'K8S_POD_NAMESPACE=;K8S_POD_NAME=pod';
    expect(errorOf(() => decode(buildBody({ with: { CNI_ARGS: args } }))).message).toBe(
      'missing K8S_POD_NAMESPACE',
    );
  });
});

test('the refusal of a request without arguments does not show the rest of the environment', () => {
  const error = errorOf(() => decode(buildBody({ without: 'CNI_ARGS', with: { AWS_SECRET: 'hunter2' } })));
  expect(error.message).not.toMatch(/AWS_SECRET|hunter2/);
});

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
}
