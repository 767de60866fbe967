import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContainerConfig, formatResolvConf, NamespaceMode, PodSandboxConfig } from '@podwire/cri';
import { allCapabilities, chooseCapabilities } from '../src/container/capabilities.js';
import { checkContainer, pidSharing, planContainer, planEnvironment } from '../src/container/plan.js';
import { chooseUser } from '../src/container/user.js';
import { directoryOf, findImage, rootOf } from '../src/images/images.js';
import { formatHosts } from '../src/sandbox/files.js';
import {
  checkSandbox,
  metadataKey,
  namespacesOf,
  planPauseProcess,
  sysctlPath,
} from '../src/sandbox/plan.js';
import type { SandboxRecord } from '../src/state/record.js';

const sandboxOf = (config: Parameters<typeof PodSandboxConfig.fromPartial>[0]): SandboxRecord => ({
  ...{ id: 'f00', runtimeHandler: '', createdAt: 1n, bootId: 'b', netns: '/run/netns/podwire-f00' },
  config: PodSandboxConfig.fromPartial({ hostname: 'web', logDirectory: '/logs', ...config }),
});

const withOptions = (options: object): SandboxRecord =>
  sandboxOf({ linux: { securityContext: { namespaceOptions: options } } });

describe('namespaces', () => {
  test('a sandbox that says nothing has its own, and its containers too', () => {
    expect(namespacesOf(sandboxOf({}).config)).toEqual({ network: 'pod', ipc: 'pod', pid: 'own' });
  });

  test('one that says something says it for all three', () => {
    expect(namespacesOf(withOptions({}).config)).toEqual({ network: 'pod', ipc: 'pod', pid: 'pod' });
    const node = { network: NamespaceMode.NODE, ipc: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER };
    expect(namespacesOf(withOptions(node).config)).toEqual({ network: 'host', ipc: 'host', pid: 'own' });
  });

  test('a container shares what its sandbox has to share', () => {
    const container = (pid?: NamespaceMode): ContainerConfig =>
      ContainerConfig.fromPartial(
        pid === undefined ? {} : { linux: { securityContext: { namespaceOptions: { pid } } } },
      );
    const shared = withOptions({ pid: NamespaceMode.POD });
    expect(pidSharing(container(), shared)).toBe('pod');
    expect(pidSharing(container(NamespaceMode.POD), shared)).toBe('pod');
    expect(pidSharing(container(NamespaceMode.POD), sandboxOf({}))).toBe('own');
    expect(pidSharing(container(NamespaceMode.CONTAINER), shared)).toBe('own');
    expect(pidSharing(container(NamespaceMode.NODE), shared)).toBe('host');
    expect(pidSharing(container(NamespaceMode.TARGET), shared)).toBe('target');
  });
});

describe('sysctls', () => {
  test.each([
    ['net.ipv4.ip_forward', 'net/ipv4/ip_forward'],
    ['net/ipv4/conf/eth0.1/forwarding', 'net/ipv4/conf/eth0.1/forwarding'],
    ['net.ipv4.conf.eth0/1.forwarding', 'net/ipv4/conf/eth0.1/forwarding'],
  ])('%s is the file %s', (name, file) => {
    expect(sysctlPath(name)).toBe(file);
  });

  const refuses = (sysctls: Record<string, string>, more: object = {}): (() => void) => {
    const { config } = sandboxOf({ linux: { sysctls, ...more } });
    return () => checkSandbox(config, '');
  };

  test('only those of the pod’s own namespaces are taken', () => {
    expect(
      refuses({ 'net.core.somaxconn': '1', 'kernel.msgmax': '1', 'fs.mqueue.msg_max': '1' }),
    ).not.toThrow();
    for (const name of [
      'vm.swappiness',
      'kernel.panic',
      'net.x/../../vm/swappiness',
      'net.//.kernel.core_pattern',
      'net/./x',
      'net//x',
      'net.x.',
      'kernel.shm/../panic',
      'fs.mqueue.//.file-max',
      '/net.x',
      '',
      'net.a b',
    ])
      expect(refuses({ [name]: '1' })).toThrow(/sysctl/);
    const onHost = { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } };
    expect(refuses({ 'net.core.somaxconn': '1' }, onHost)).toThrow(/sysctl/);
  });

  test('no path leaves /proc/sys', () => {
    const words = fc.constantFrom('net', 'kernel', 'shmmax', 'fs', 'mqueue', 'a', '.', '/', '..', '//', '-');
    const names = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 9 }).map((parts) => parts.join('')),
    );
    const property = fc.property(names, (name) => {
      const record = sandboxOf({ linux: { sysctls: { [name]: '1' } } });
      try {
        checkSandbox(record.config, '');
      } catch {
        return;
      }
      for (const [word, path] of planPauseProcess(record)) {
        if (word !== 'sysctl') continue;
        const file = new URL(`file:///proc/sys/${path}`).pathname;
        expect(file).toMatch(/^\/proc\/sys\/(net\/|kernel\/(shm|msg|sem)|fs\/mqueue\/)/);
      }
    });
    // A message has no field of the name `__proto__`: what is called so is not even planned.
    fc.assert(property, { examples: [['__proto__'], ['net.a']] });
  });
});

test('what a pause process is told', () => {
  const record = sandboxOf({ linux: { sysctls: { 'net.ipv4.ip_forward': '1' } } });
  expect(planPauseProcess(record)).toEqual([
    ['netns', '/run/netns/podwire-f00'],
    ['utsMode', 'pod'],
    ['ipcMode', 'pod'],
    ['pidMode', 'host'],
    ['hostname', 'web'],
    ['sysctl', 'net/ipv4/ip_forward', '1'],
  ]);
});

test('attempts of one pod are told apart, and nothing else', () => {
  const key = (metadata: object, more: object = {}): string =>
    metadataKey(sandboxOf({ metadata, ...more }).config);
  const one = { name: 'a', namespace: 'b', uid: 'c', attempt: 0 };
  expect(key(one)).toBe(key(one, { hostname: 'other' }));
  expect(key(one)).not.toBe(key({ ...one, attempt: 1 }));
  expect(key({ ...one, name: 'a_b', namespace: 'c' })).not.toBe(key({ ...one, name: 'a', namespace: 'b_c' }));
});

describe('files', () => {
  test('resolv.conf and hosts', () => {
    expect(formatResolvConf({ servers: ['1.1.1.1', '::1'], searches: ['a', 'b'], options: [] })).toBe(
      'nameserver 1.1.1.1\nnameserver ::1\nsearch a b\n',
    );
    expect(formatHosts('web', ['10.0.0.1', 'fd00::1'])).toBe(
      '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n10.0.0.1\tweb\nfd00::1\tweb\n',
    );
  });
});

describe('capabilities', () => {
  test('the usual ones are those of Docker', () => {
    expect(chooseCapabilities(undefined)).toBe(0xa00425fbn);
  });

  test.each([
    [['ALL'], [], allCapabilities],
    [[], ['ALL'], 0n],
    [['NET_BIND_SERVICE'], ['ALL'], 1n << 10n],
    [['cap_sys_admin'], [], 0xa00425fbn | (1n << 21n)],
    [['ALL'], ['SYS_ADMIN'], allCapabilities & ~(1n << 21n)],
    [['SYS_ADMIN'], ['CAP_SYS_ADMIN'], 0xa00425fbn],
  ])('add %j, drop %j', (addCapabilities, dropCapabilities, bits) => {
    const requested = { addCapabilities, dropCapabilities, addAmbientCapabilities: [] };
    expect(chooseCapabilities(requested)).toBe(bits);
  });

  test('one that is none is refused', () => {
    const requested = { addCapabilities: ['FLY'], dropCapabilities: [], addAmbientCapabilities: [] };
    expect(() => chooseCapabilities(requested)).toThrow(/no capability FLY/);
  });
});

describe('users', () => {
  const accounts = {
    passwd: 'root:x:0:0:root:/root:/bin/sh\nbroken\nweb:x:33:34:web:/var/www:/bin/false\n',
    group: 'root:x:0:\nwww:x:35:other,web\nadm:x:4:web\n',
  };
  const choose = (context: object): ReturnType<typeof chooseUser> =>
    chooseUser(
      ContainerConfig.fromPartial({ linux: { securityContext: context } }).linux?.securityContext,
      accounts,
    );

  test('root when nothing is said', () => {
    expect(choose({})).toEqual({ uid: 0, gid: 0, groups: [0], home: '/root' });
  });

  test('by name, by number, by number as a name; with groups of the account', () => {
    const web = { uid: 33, gid: 34, groups: [35, 4, 34], home: '/var/www' };
    expect(choose({ runAsUsername: 'web' })).toEqual(web);
    expect(choose({ runAsUser: { value: 33n } })).toEqual(web);
    expect(choose({ runAsUsername: '33' })).toEqual(web);
  });

  test('a number without a user, with groups that are given', () => {
    const requested = { runAsUser: { value: 99n }, runAsGroup: { value: 7n }, supplementalGroups: [7n, 8n] };
    expect(choose(requested)).toEqual({ uid: 99, gid: 7, groups: [7, 8], home: '/' });
  });

  test('what cannot be is refused', () => {
    expect(() => choose({ runAsUsername: 'nobody' })).toThrow(/no user nobody/);
    expect(() => choose({ runAsGroup: { value: 7n } })).toThrow(/needs a user/);
    expect(() => choose({ runAsUser: { value: -1n } })).toThrow(/no id/);
    expect(() => choose({ runAsUser: { value: 2n ** 32n - 1n } })).toThrow(/no id/);
  });
});

describe('images', () => {
  test.each([
    ['dir:///srv/root', '/srv/root'],
    ['dir:/srv/root/', '/srv/root/'],
    ['/srv/../srv/root', '/srv/root'],
    ['busybox:1', undefined],
    ['registry.example/dir:1', undefined],
  ])('%s is the directory %s', (reference, directory) => {
    expect(directoryOf(reference)).toBe(directory);
  });

  test('a directory must be named whole and be there', () => {
    expect(() => directoryOf('dir:srv')).toThrow(/absolute/);
    expect(findImage('dir:///no/such')).toBeUndefined();
    expect(findImage('')).toBeUndefined();
  });

  test('any name is the host', () => {
    expect(findImage('localhost:5000/busybox')).toMatchObject({
      repoTags: ['localhost:5000/busybox:latest'],
    });
    expect(findImage('/usr')).toMatchObject({ id: 'dir:///usr', repoTags: ['dir:///usr'] });
    expect(findImage('busybox:1')).toMatchObject({ id: 'host', repoTags: ['busybox:1'], pinned: true });
    expect(findImage('host')).toMatchObject({ id: 'host' });
    const config = ContainerConfig.fromPartial({ image: { image: 'host' } });
    expect(rootOf(config, sandboxOf({}).config)).toBe('/');
  });

  test('an id is a reference too', () => {
    const image = findImage('/tmp');
    expect(image?.id).toBe('dir:///tmp');
    expect(findImage(image?.id ?? '')?.id).toBe(image?.id);
  });

  test('the annotation of the container goes before that of the pod', () => {
    const config = ContainerConfig.fromPartial({ annotations: { 'podwire.io/root': '/tmp' } });
    const pod = sandboxOf({ annotations: { 'podwire.io/root': '/usr' } }).config;
    expect(rootOf(config, pod)).toBe('/tmp');
    expect(rootOf(ContainerConfig.fromPartial({}), pod)).toBe('/usr');
  });
});

describe('containers', () => {
  const planContext = {
    sandbox: sandboxOf({}),
    sandboxDirectory: '/state/sandboxes/f00',
    pause: { pid: 7, start: 8n },
    accounts: { passwd: '', group: '' },
  };
  const plan = (fields: Parameters<typeof ContainerConfig.fromPartial>[0]) => {
    const config = ContainerConfig.fromPartial({ command: ['sh'], ...fields });
    const record = { id: 'c', sandboxId: 'f00', createdAt: 1n, root: '/', imageRef: 'host', config };
    return planContainer(record, planContext);
  };
  const valuesOf = (instruction: ReturnType<typeof plan>, wanted: string): unknown[] =>
    instruction.filter(([key]) => key === wanted).map(([, ...values]) => values);

  test('the sandbox’s own files are mounted where the pod mounts no others', () => {
    const mounts = [{ containerPath: '/etc//hosts', hostPath: '/pod/hosts', readonly: true }];
    expect(valuesOf(plan({ mounts }), 'mount')).toEqual([
      ['rw', '/state/sandboxes/f00/resolv.conf', '/etc/resolv.conf'],
      ['rw', '/state/sandboxes/f00/hostname', '/etc/hostname'],
      ['ro', '/pod/hosts', '/etc/hosts'],
    ]);
  });

  test('devices are mounts too', () => {
    const devices = [
      { hostPath: '/dev/fuse', containerPath: '', permissions: 'rw' },
      { hostPath: '/dev/null', containerPath: '/dev/nothing', permissions: 'r' },
    ];
    expect(valuesOf(plan({ devices }), 'mount').slice(3)).toEqual([
      ['rw', '/dev/fuse', '/dev/fuse'],
      ['ro', '/dev/null', '/dev/nothing'],
    ]);
  });

  test('program, log and streams', () => {
    const instruction = plan({
      args: ['-c', ''],
      logPath: 'web/0.log',
      stdin: true,
      stdinOnce: true,
      tty: true,
    });
    expect(valuesOf(instruction, 'arg')).toEqual([['sh'], ['-c'], ['']]);
    expect(valuesOf(instruction, 'log')).toEqual([['/logs/web/0.log']]);
    for (const key of ['stdin', 'stdinOnce', 'tty']) expect(valuesOf(instruction, key)).toEqual([[]]);
    expect(valuesOf(plan({}), 'log')).toEqual([]);
  });

  test('a privileged one has everything, and nothing covered', () => {
    const instruction = plan({ linux: { securityContext: { privileged: true } } });
    expect(valuesOf(instruction, 'capabilities')).toEqual([['f'.repeat(16)]]);
    expect(valuesOf(instruction, 'masked')).toEqual([]);
    expect(valuesOf(plan({}), 'masked')).toContainEqual(['/proc/kcore']);
  });

  test('the container’s own words win in its environment, the last of two equal ones', () => {
    const envs = [
      { key: 'PATH', value: '/mine' },
      { key: 'A', value: '1' },
      { key: 'A', value: '2=3' },
    ];
    const environment = planEnvironment(ContainerConfig.fromPartial({ envs }), 'web', '/root');
    expect(environment).toEqual(['PATH=/mine', 'HOME=/root', 'HOSTNAME=web', 'A=2=3']);
  });

  test('without a command there is nothing to run', () => {
    const config = ContainerConfig.fromPartial({ metadata: { name: 'web' }, args: ['x'] });
    expect(() => checkContainer(config)).toThrow(/container web has no command/);
  });
});
