/** Requests that must be refused, as a table: the CNI code, what is wrong, the call, and what the error says of it. */
import type { CniCall } from './calls.js';

const withRuntime = (runtimeConfig: unknown): CniCall => ({ command: 'ADD', config: { runtimeConfig } });
const withNetns = (netns: string): CniCall => ({ command: 'ADD', netns });
const withVariable = (name: string, value: string | undefined): CniCall => ({
  command: 'ADD',
  environment: { [name]: value },
});
/** The plugin looks for nothing but the socket, so it finds that before what is wrong. */
const withInput = (rest: string): CniCall => ({
  command: 'ADD',
  stdin: Buffer.from(`{"socket":"SOCKET"${rest}`, 'latin1'),
});
export const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

/**
 * Each is refused before anything happens. `OWN` stands for the namespace of the host, `SOCKET` for the socket of its agent.
 */
export const refusals: readonly (readonly [code: number, what: string, call: CniCall, words: RegExp])[] = [
  [
    1,
    'a version of the future',
    { command: 'ADD', config: { cniVersion: '9.9.9' } },
    /incompatible CNI versions.*9\.9\.9.*1\.1\.0/,
  ],
  [
    1,
    'CHECK before 0.4.0',
    { command: 'CHECK', config: { cniVersion: '0.3.1' } },
    /0\.3\.1 of the configuration has no CHECK/,
  ],
  [1, 'GC before 1.1.0', { command: 'GC', config: { cniVersion: '1.0.0' } }, /has no GC/],
  [1, 'STATUS before 1.1.0', { command: 'STATUS', config: { cniVersion: '1.0.0' } }, /has no STATUS/],

  [
    3,
    'a namespace that is not there',
    withNetns('/run/netns/podwire-absent'),
    /no network namespace at \/run\/netns\/podwire-absent/,
  ],
  [3, 'a namespace below a file', withNetns('/etc/passwd/net'), /no network namespace at/],
  [
    3,
    'CHECK of what is not there',
    { command: 'CHECK', id: 'unknown', config: { prevResult: { cniVersion: '1.1.0' } } },
    /container unknown has no interface eth0/,
  ],

  [4, 'no container id', withVariable('CNI_CONTAINERID', ''), /missing: CNI_CONTAINERID/],
  [4, 'no interface', withVariable('CNI_IFNAME', undefined), /missing: CNI_IFNAME/],
  [4, 'no namespace', withVariable('CNI_NETNS', undefined), /missing: CNI_NETNS/],
  [4, 'no path', withVariable('CNI_PATH', ''), /missing: CNI_PATH/],
  [4, 'an unknown command', { command: 'MOVE' }, /unknown CNI_COMMAND: MOVE/],
  [4, 'arguments without a value', { command: 'ADD', args: 'IP' }, /CNI_ARGS: "IP" is no KEY=VALUE pair/],
  [
    4,
    'a container id that is a path',
    { command: 'ADD', id: '../../etc/passwd' },
    /container id "\.\.\/\.\.\/etc\/passwd" is malformed/,
  ],
  [
    4,
    'a container id with the separator of records',
    { command: 'ADD', id: 'a,b' },
    /container id "a,b" is malformed/,
  ],
  [
    4,
    'a container id that begins with a dot',
    { command: 'DEL', id: '.hidden' },
    /container id "\.hidden" is malformed/,
  ],
  [4, 'a container id of 256 characters', { command: 'ADD', id: 'x'.repeat(256) }, /is malformed/],
  [
    4,
    'an interface that is a path',
    { command: 'ADD', ifName: '../eth0' },
    /interface name "\.\.\/eth0" contains a slash/,
  ],
  [
    4,
    'an interface that is a directory',
    { command: 'ADD', ifName: '..' },
    /interface name "\.\." is a directory/,
  ],
  [4, 'an interface name of 16 bytes', { command: 'ADD', ifName: 'x'.repeat(16) }, /longer than 15 bytes/],
  [4, 'two addresses of one family', withRuntime({ ips: ['10.66.0.3', '10.66.0.4'] }), /10\.66\.0\.[34]/],
  [
    4,
    'a hundred variables',
    {
      command: 'ADD',
      environment: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`CNI_X${index}`, 'x'])),
    },
    /more than 64 environment variables/,
  ],
  [
    4,
    'a variable that is none of the protocol',
    withVariable('CNI_lower', 'x'),
    /unexpected environment variable "CNI_lower=x"/,
  ],

  [6, 'no JSON', withInput(',"name"}'), /is no JSON/],
  [6, 'half a document', withInput(',"name":'), /is no JSON/],
  [6, 'bytes that are no UTF-8', withInput(',"name":"\xff"}'), /is no UTF-8 text/],
  [6, 'a key that comes twice', withInput(',"name":"a","name":"b"}'), /key "name" twice/],
  [
    6,
    'a version that is a number',
    { command: 'ADD', config: { cniVersion: 1 } },
    /cniVersion: must be a string, is a number/,
  ],
  [6, '33 levels', { command: 'ADD', config: { deep: nested(32) } }, /deeper than 32 levels/],
  [
    6,
    'more than a mebibyte',
    { command: 'ADD', config: { large: 'x'.repeat(1 << 20) } },
    /REQUEST_TOO_LARGE.*1048576/,
  ],

  [7, 'no name', { command: 'ADD', config: { name: '' } }, /network name is missing/],
  [
    7,
    'a name that is a path',
    { command: 'ADD', config: { name: '../default' } },
    /network name "\.\.\/default" is malformed/,
  ],
  [
    7,
    'a name of the wrong type',
    { command: 'ADD', config: { name: ['default'] } },
    /name: must be a string, is an array/,
  ],
  [
    7,
    'a version that is none',
    { command: 'ADD', config: { cniVersion: '1.x' } },
    /"1\.x" is no CNI version/,
  ],
  [
    7,
    'a network that is not there',
    { command: 'ADD', config: { network: 'blue' } },
    /no network "blue".*default, bystander/,
  ],
  [
    7,
    'capabilities of the wrong type',
    { command: 'ADD', config: { capabilities: { mac: 'yes' } } },
    /capabilities\.mac: must be true or false, is a string/,
  ],
  [7, 'a runtimeConfig of the wrong type', withRuntime([]), /runtimeConfig: must be an object, is an array/],
  [
    7,
    'port mappings of the wrong type',
    withRuntime({ portMappings: {} }),
    /runtimeConfig\.portMappings: must be an array, is an object/,
  ],
  [
    7,
    'a port of the wrong type',
    withRuntime({
      portMappings: [
        { hostPort: 1, containerPort: 1 },
        { hostPort: '80', containerPort: 80 },
      ],
    }),
    /runtimeConfig\.portMappings\[1\]\.hostPort: must be a number, is a string/,
  ],
  [
    7,
    'a port that is none',
    withRuntime({ portMappings: [{ hostPort: 65_536, containerPort: 80 }] }),
    /portMappings\[0\]\.hostPort: must be a whole number from 1 to 65535/,
  ],
  [
    7,
    'a protocol that is none',
    withRuntime({ portMappings: [{ hostPort: 1, containerPort: 1, protocol: 'icmp' }] }),
    /portMappings\[0\]\.protocol: must be tcp, udp or sctp/,
  ],
  [
    7,
    'a rate of the wrong type',
    withRuntime({ bandwidth: { ingressRate: '1M' } }),
    /runtimeConfig\.bandwidth\.ingressRate: must be a number, is a string/,
  ],
  [7, 'an address that is none', withRuntime({ ips: ['10.66.0.300'] }), /runtimeConfig\.ips\[0\]/],
  [
    7,
    'an address of no pool',
    withRuntime({ ips: ['192.0.2.77'] }),
    /ADDRESS_NOT_IN_POOL.*192\.0\.2\.77.*10\.66\.0\.0\/29/,
  ],
  [
    7,
    'an address that is reserved',
    withRuntime({ ips: ['10.66.0.7'] }),
    /ADDRESS_NOT_IN_POOL.*10\.66\.0\.7.*reserved/,
  ],
  [
    7,
    'a MAC address of the wrong type',
    withRuntime({ mac: 7 }),
    /runtimeConfig\.mac: must be a string, is a number/,
  ],
  [
    7,
    'the MAC address of a group',
    withRuntime({ mac: '01:00:5e:00:00:01' }),
    /runtimeConfig\.mac: "01:00:5e:00:00:01" is not a MAC address of a link/,
  ],
  [
    7,
    'a result of another plugin',
    { command: 'ADD', config: { prevResult: { cniVersion: '1.1.0' } } },
    /prevResult: podwire-cni makes the interface/,
  ],
  [
    7,
    'attachments of the wrong type',
    { command: 'GC', config: { 'cni.dev/valid-attachments': [{ containerID: 1 }] } },
    /cni\.dev\/valid-attachments"?\[0\]\.containerID: must be a string, is a number/,
  ],

  [8, 'a namespace that is a file', withNetns('/etc/hostname'), /\/etc\/hostname is no network namespace/],
  [8, 'a namespace that is a directory', withNetns('/run/netns'), /\/run\/netns is no network namespace/],
  [8, 'a namespace of another kind', withNetns('/proc/self/ns/mnt'), /is no network namespace/],
  [8, 'a path that escapes to a file', withNetns('/run/netns/../../etc/hostname'), /is no network namespace/],
  [8, 'a path that is not absolute', withNetns('proc/self/ns/net'), /CNI_NETNS must be an absolute path/],
  [8, "the node's own namespace", withNetns('OWN'), /is the network namespace of the node itself/],
];
