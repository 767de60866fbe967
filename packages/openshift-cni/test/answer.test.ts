import { CniError, type Result } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { describe, expect, test } from 'vitest';
import { decodeRequest, describeFailure, renderResult } from '../src/index.js';
import { result020, result031 } from './recorded.js';
import { buildBody } from './support.js';

/** A result as Podwire's agent has it. */
const result: Result = {
  cniVersion: '1.1.0',
  interfaces: [
    { name: 'vethabc', mac: '02:00:00:00:00:01', mtu: 1450 },
    { name: 'eth0', mac: '0a:58:0a:80:00:05', mtu: 1450, sandbox: '/run/netns/pod' },
  ],
  ips: [{ interface: 1, address: '10.128.0.5/23', gateway: '10.128.0.1' }],
  routes: [
    { dst: '0.0.0.0/0', gw: '10.128.0.1', mtu: 1400 },
    { dst: '224.0.0.0/4' },
    { dst: '10.128.0.0/14', scope: 253 },
  ],
};

function requestOf(cniVersion: string, changes: { without?: string; with?: Record<string, string> } = {}) {
  const config = JSON.stringify({ cniVersion, name: 'openshift-sdn', type: 'openshift-sdn' });
  const hostVeth = changes.without === 'hostVeth' ? 'refused' : 'required';
  return decodeRequest(Buffer.from(buildBody({ config, ...changes })), { hostVeth });
}

describe('the answer to an ADD', () => {
  test.each(['0.1.0', '0.2.0'])(
    'under a configuration of %s is a result of 0.2.0, byte for byte',
    (version) => {
      expect(renderResult(requestOf(version), result)).toBe(result020);
    },
  );

  test.each(['0.3.0', '0.3.1', '0.4.0', '1.0.0'])(
    'under one of %s is a result of 0.3.1, byte for byte',
    (version) => {
      expect(renderResult(requestOf(version), result)).toBe(result031);
    },
  );

  test('has the interfaces when the caller has made none', () => {
    expect(renderResult(requestOf('0.3.1', { without: 'hostVeth' }), result)).toBe(
      '{"cniVersion":"0.3.1","interfaces":[{"name":"vethabc","mac":"02:00:00:00:00:01"},' +
        '{"name":"eth0","mac":"0a:58:0a:80:00:05","sandbox":"/run/netns/pod"}],"ips":[{"version":"4","interface":1,' +
        '"address":"10.128.0.5/23","gateway":"10.128.0.1"}],' +
        result031.slice(result031.indexOf('"routes"')),
    );
  });

  test('cannot be without a result, nor without an address under 0.2.0', () => {
    expect(() => renderResult(requestOf('0.2.0'), undefined)).toThrow(CniError);
    expect(() => renderResult(requestOf('0.2.0'), { cniVersion: '1.1.0' })).toThrow(
      'cannot be expressed in 0.2.0',
    );
  });
});

test('the answer to a DEL is empty', () => {
  expect(renderResult(requestOf('0.2.0', { with: { CNI_COMMAND: 'DEL' } }), undefined)).toBe('');
  expect(renderResult(requestOf('0.2.0', { with: { CNI_COMMAND: 'DEL' } }), result)).toBe('');
});

test('an error is described with its code, its advice and its causes', () => {
  const cause = new Error('the disk is full');
  expect(describeFailure(new CniError(11, 'POOL_EXHAUSTED: no address', { details: 'Add a pool.' }))).toBe(
    'POOL_EXHAUSTED: no address: Add a pool.',
  );
  expect(describeFailure(new CniError(7, 'bad name'))).toBe('bad name');
  expect(describeFailure(new PodwireError('AGENT_NOT_READY', 'it starts', { cause }))).toBe(
    'AGENT_NOT_READY: it starts: the disk is full',
  );
  expect(describeFailure(new Error('failed', { cause }))).toBe('failed: the disk is full');
});
