import { describe, expect, test } from 'vitest';
import { parseRuntimeConfig } from '../src/index.js';

test.each([undefined, null, {}])('%j asks for nothing', (value) =>
  expect(parseRuntimeConfig(value)).toEqual({}),
);

test('reads every well-known capability and leaves others alone', () => {
  const value = {
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'TCP', hostIP: '' },
      { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '127.0.0.1' },
      { hostPort: 9, containerPort: 9 },
      { hostPort: 0, containerPort: 443, protocol: 'tcp' },
    ],
    bandwidth: { ingressRate: 1_000_000, ingressBurst: 4294967295, egressRate: 0 },
    ips: ['10.0.0.5', 'fd00::5/64'],
    mac: 'c2:11:22:33:44:55',
    dns: { servers: ['10.0.0.10'], searches: ['a.b'], options: ['ndots:5'] },
    ipRanges: [[{ subnet: '10.1.0.0/24', rangeStart: '10.1.0.5' }], [{ subnet: 'fd00::/64' }]],
    deviceID: '0000:04:00.5',
    infinibandGUID: 'c2:11:22:33:44:55:66:77',
    aliases: ['db'],
    cgroupPath: '/kubelet.slice',
    'io.kubernetes.cri.pod-annotations': { a: 'b' },
  };
  expect(parseRuntimeConfig(value)).toEqual({
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
      { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '127.0.0.1' },
      { hostPort: 9, containerPort: 9, protocol: 'tcp' },
    ],
    bandwidth: value.bandwidth,
    ips: value.ips,
    mac: value.mac,
    dns: value.dns,
    ipRanges: value.ipRanges,
    deviceID: value.deviceID,
    infinibandGUID: value.infinibandGUID,
    aliases: value.aliases,
    cgroupPath: value.cgroupPath,
  });
});

test('takes the keys as containerd 1.6 writes them; an exact key goes first', () => {
  const value = {
    portMappings: [{ HostPort: 8080, ContainerPort: 80, Protocol: 'tcp', HostIP: '' }],
    bandwidth: {
      IngressRate: 16_000_000,
      ingressRate: 8_000_000,
      IngressBurst: 4294967295,
      EgressRate: 0,
      EgressBurst: 0,
    },
    dns: { Servers: ['10.0.0.10'] },
    ipRanges: [[{ Subnet: '10.1.0.0/24' }]],
  };
  expect(parseRuntimeConfig(value)).toEqual({
    portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
    bandwidth: { ingressRate: 8_000_000, ingressBurst: 4294967295, egressRate: 0, egressBurst: 0 },
    dns: { servers: ['10.0.0.10'] },
    ipRanges: [[{ subnet: '10.1.0.0/24' }]],
  });
});

describe('names what is wrong', () => {
  test.each([
    [[], 'runtimeConfig: must be an object'],
    [{ portMappings: {} }, 'runtimeConfig.portMappings: must be an array'],
    [
      { portMappings: [{ hostPort: 70000, containerPort: 1 }] },
      'runtimeConfig.portMappings[0].hostPort: must be a whole',
    ],
    [{ portMappings: [{ hostPort: -1, containerPort: 1 }] }, 'portMappings[0].hostPort'],
    [{ portMappings: [{ hostPort: '80', containerPort: 1 }] }, 'portMappings[0].hostPort: must be a number'],
    [{ portMappings: [{ hostPort: 80 }] }, 'portMappings[0].containerPort: is missing'],
    [{ portMappings: [{ hostPort: 80, containerPort: 0 }] }, 'portMappings[0].containerPort'],
    [{ portMappings: [{ hostPort: 80, containerPort: 1, protocol: 'icmp' }] }, 'portMappings[0].protocol'],
    [{ portMappings: [{ hostPort: 80, containerPort: 1, hostIP: '1.2.3.4/8' }] }, 'portMappings[0].hostIP'],
    [{ bandwidth: { egressRate: -1 } }, 'bandwidth.egressRate'],
    [{ bandwidth: { egressRate: 1.5 } }, 'bandwidth.egressRate'],
    [{ ips: ['10.0.0.256'] }, 'ips[0]'],
    [{ ips: '10.0.0.5' }, 'ips: must be an array, is a string'],
    [{ mac: 'c2:11:22:33:44' }, 'mac: must be a hardware address'],
    [{ mac: 'c2:11:22-33:44:55' }, 'mac'],
    [{ ipRanges: [{ subnet: '10.0.0.0/8' }] }, 'ipRanges[0]: must be an array'],
    [{ ipRanges: [[{ subnet: '10.0.0.0' }]] }, 'ipRanges[0][0].subnet'],
    [{ dns: { servers: [1] } }, 'dns.servers[0]: must be a string'],
  ])('%j', (value, message) => {
    expect(() => parseRuntimeConfig(value)).toThrow(
      expect.objectContaining({ code: 7, message: expect.stringContaining(message) as string }),
    );
  });
});
