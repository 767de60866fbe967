import { describe, expect, test } from 'vitest';
import type { Interfaces } from '@podwire/addresses';
import { defaultAdvertise, isOpenToOthers, readTenantWords } from '../../src/cluster/tenant-master.js';
import { readWords } from '../../src/commands/netmaster.js';
import { run } from '../support.js';

const flags = { listen: '--listen', advertise: '--advertise', fwdmode: '--fwdmode' };

describe('the master of the model tenant', () => {
  test.each([
    [['netmaster', '--external-address', 'x'], '--external-address: "x" is no HOST:PORT'],
    [['netmaster', '--listen-url', '0.0.0.0:99999'], 'is no HOST:PORT'],
    [['netmaster', '--internal-address', ':1'], '--internal-address: ":1" is no HOST:PORT'],
    [['netmaster', '--fwdmode', 'tunnel'], '--fwdmode: "tunnel" is neither bridge nor routing'],
    [['netmaster', '--netmode', 'gre'], '--netmode: "gre" is none of vlan, vxlan'],
    [['netmaster', '--infra', 'aci'], '--infra: "aci" is none of default'],
    [['netmaster', '--cluster-mode', 'nomad'], '--mode: "nomad" is none of docker'],
    [['netmaster', '--etcd', 'http://a', '--consul', 'http://b'], 'one store is enough'],
    [['netmaster', '--etcd', 'http://a b:1'], 'is no HOST or HOST:PORT'],
    [
      ['netmaster', '--etcd', 'https://a,http://b'],
      '--etcd-endpoints: https://a,http://b has URLs with https',
    ],
    [['netmaster', '--consul', 'a,https://b'], '--consul-endpoints: a,https://b has URLs with https'],
    [['netmaster', '--external-address', ':99999'], 'is no HOST:PORT'],
    [
      ['controller', '--store', 'etcd://127.0.0.1:1', '--model', 'tenant'],
      '--listen: must be given with --model tenant on a store of etcd',
    ],
    [
      ['controller', '--store', 'memory:', '--listen', '127.0.0.1:1'],
      '--listen: is for the REST API of --model',
    ],
    [['controller', '--store', 'memory:', '--advertise', '127.0.0.1:1'], '--advertise: is for the REST API'],
    [
      ['controller', '--store', 'memory:', '--model', 'tenant', '--listen', 'x'],
      '--listen: "x" is no HOST:PORT',
    ],
    [['controller', '--model', 'routed'], 'Allowed choices are tenant'],
  ])('refuses %j before it does anything', async (words, message) => {
    const { code, stderr } = await run(words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  test('takes the words of the original from the environment, and those of the command line before them', () => {
    const env = {
      CONTIV_NETMASTER_EXTERNAL_ADDRESS: '10.0.0.1:9999',
      CONTIV_NETMASTER_ETCD_ENDPOINTS: 'http://e:1',
    };
    expect(readWords({}, env)).toEqual({ external: '10.0.0.1:9999', etcd: 'http://e:1' });
    expect(readWords({ listenUrl: '10.0.0.2:1', forwardMode: 'routing' }, env)).toEqual({
      ...{ external: '10.0.0.2:1', etcd: 'http://e:1', fwdmode: 'routing' },
    });
  });

  test('advertises an address that others can ask', () => {
    expect(readTenantWords({ listen: '127.0.0.1:9999' }, flags)).toEqual({
      ...{ listen: { host: '127.0.0.1', port: 9999 }, settings: {} },
    });
    expect(
      readTenantWords({ listen: '0.0.0.0:9999', advertise: '[fd00::1]:1', fwdmode: 'bridge' }, flags),
    ).toEqual({
      listen: { host: '0.0.0.0', port: 9999 },
      advertise: '[fd00::1]:1',
      settings: { fwdMode: 'bridge' },
    });
    expect(readTenantWords({ listen: '0.0.0.0:9999' }, flags).advertise).toMatch(
      /^(?!0\.0\.0\.0)[0-9.]+:9999$/,
    );
  });

  test('listens at all addresses where no host is given', () => {
    expect(readTenantWords({ listen: ':9999', advertise: '10.0.0.1:9999' }, flags)).toMatchObject({
      listen: { host: '', port: 9999 },
    });
  });

  test('advertises an address of no container network, and of IPv6 where there is no other', () => {
    const entry = (address: string) => ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4' });
    const link = (...addresses: string[]) => addresses.map((each) => ({ ...entry(each), internal: false }));
    const docker0 = link('172.17.0.1');
    const advertised = (host: string, interfaces: Interfaces) =>
      defaultAdvertise({ host, port: 1 }, interfaces)?.host;
    expect(advertised('', { docker0, eth0: link('2001:db8::5', '192.0.2.5') })).toBe('192.0.2.5');
    expect(advertised('', { docker0, eth0: link('fe80::1', '2001:db8::5') })).toBe('2001:db8::5');
    expect(advertised('::', { eth0: link('2001:db8::5') })).toBe('2001:db8::5');
    // Nothing listens at IPv6 then.
    expect(advertised('0.0.0.0', { eth0: link('2001:db8::5') })).toBe('127.0.0.1');
    expect(advertised('10.0.0.1', { eth0: link('192.0.2.5') })).toBeUndefined();
  });

  test.each([
    ['', true],
    ['127.0.0.1', false],
    ['localhost', false],
    ['::1', false],
    ['0.0.0.0', true],
    ['10.0.0.1', true],
  ])('warns of a port at %s: %s', (host, expected) => {
    expect(isOpenToOthers({ host, port: 9999 })).toBe(expected);
  });
});
