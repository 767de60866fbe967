import { PodwireError } from '@podwire/errors';
import { describe, expect, test } from 'vitest';
import { type Operation, readCniRequest, renderCniRequest } from '../src/index.js';
import { fullBody, podBody } from './recorded.js';
import { changed } from './support.js';

const read = (body: string, operation: Operation = 'add') => readCniRequest(Buffer.from(body), operation);

const pod = {
  ...{ cniType: 'kube-ovn', podName: 'pod', podNamespace: 'ns', containerId: '532bed4f476d' },
  ...{ netNs: '/proc/10112/ns/net', ifName: 'eth0', provider: 'ovn', routes: [], vfDriver: '', deviceId: '' },
};

describe('a request of the original', () => {
  test('is read with all of its fields', () => {
    expect(read(podBody)).toEqual(pod);
    expect(read(fullBody)).toEqual({
      ...{ ...pod, ifName: 'net1', provider: 'a.b.ovn', vfDriver: 'vfio-pci<', deviceId: '0000:00:1f.6' },
      routes: [
        { destination: '1.0.0.0/8', gateway: '1.1.1.1' },
        { destination: '2.0.0.0/8', gateway: '' },
      ],
    });
  });

  test('is written byte for byte', () => {
    expect(renderCniRequest(read(podBody))).toBe(podBody);
    expect(renderCniRequest(read(fullBody))).toBe(fullBody);
  });

  test('may leave out what has a usual value, or say null', () => {
    for (const none of [undefined, null, ''])
      expect(read(changed({ cni_type: none, if_name: none, provider: none, vf_driver: none }))).toEqual({
        ...{ ...pod, cniType: '' },
      });
    expect(read(changed({ routes: undefined })).routes).toEqual([]);
  });

  test('may have the fields of later versions', () => {
    expect(read(changed({ dns: { nameservers: [] }, vhost_user_socket_name: 'x' }))).toEqual(pod);
  });

  test('needs a namespace only for ADD', () => {
    expect(read(changed({ net_ns: '' }), 'del').netNs).toBe('');
    expect(() => read(changed({ net_ns: '' }))).toThrow('net_ns: an absolute path is needed');
  });
});

const many = 'a'.repeat(254);
const refused: readonly (readonly [body: string, reason: string])[] = [
  ['', 'is empty'],
  ['{', 'is no JSON'],
  ['[]', 'the request is no object'],
  ['null', 'pod_name: is empty'],
  ['{"pod_name":"a","pod_name":"b"}', 'twice'],
  [`{"x":${'['.repeat(9)}${']'.repeat(9)}}`, 'nested deeper'],
  [changed({ pod_name: 5 }), 'pod_name is no string'],
  [changed({ pod_name: undefined }), 'pod_name: is empty'],
  [changed({ pod_name: '../x' }), 'pod_name: "../x" is no name'],
  [changed({ pod_name: many }), 'is no name'],
  [changed({ pod_namespace: '' }), 'pod_namespace: is empty'],
  [changed({ pod_namespace: 'a\nb' }), 'pod_namespace: "a\\nb" is no name'],
  [changed({ container_id: '' }), 'container_id: the container id is empty'],
  [changed({ container_id: '../x' }), 'container_id: the container id "../x" is malformed'],
  [changed({ if_name: 'a'.repeat(16) }), 'if_name: the interface name'],
  [changed({ if_name: 'a/b' }), 'if_name: the interface name'],
  [changed({ net_ns: 'proc/1/ns/net' }), 'net_ns: an absolute path is needed'],
  [changed({ net_ns: '/proc/1\0' }), 'net_ns: it holds a control character'],
  [changed({ net_ns: `/${'a'.repeat(4096)}` }), 'net_ns: it is longer than 4096 characters'],
  [changed({ provider: 'a b' }), 'provider: "a b" is no name'],
  [changed({ cni_type: '/bin/sh' }), 'cni_type: "/bin/sh" is no name'],
  [changed({ vf_driver: 'a\n' }), 'vf_driver: it holds a control character'],
  [changed({ deviceID: 7 }), 'deviceID is no string'],
  [changed({ routes: {} }), 'routes is no list'],
  [changed({ routes: ['x'] }), 'routes[0]: it is no object'],
  [changed({ routes: [{ dst: '1.0.0.0/8' }, { gw: '1.1.1.1' }] }), 'routes[1]: not a prefix'],
  [changed({ routes: [{ dst: '1.0.0.0/8', gw: 'fd00::1' }] }), 'routes[0]: gw "fd00::1" is no address'],
  [changed({ routes: [{ dst: '1.0.0.0/8', gw: 'x' }] }), 'routes[0]: gw "x" is no address'],
];

describe('a request is refused, and the field is named, when the body', () => {
  test.each(refused)('is %j', (body, reason) => {
    for (const operation of ['add', 'del'] as const) {
      const error = errorOf(() => read(body, operation));
      expect(error).toBeInstanceOf(PodwireError);
      expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
      expect(error.message).toMatch(new RegExp(`^parse ${operation} request failed `));
      expect(error.message).toContain(reason);
    }
  });
});

test('a request that is too large is refused', () => {
  expect(() => read(changed({ x: 'a'.repeat(1 << 20) }))).toThrow('at most 1048576 are read');
});

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
}
