/** Parts of a container: its files, processes and rights. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MountPropagation, NamespaceMode } from '@podwire/cri';
import { createNativeRuntime, type EmbeddedRuntime, rootAnnotation } from '@podwire/cri-native';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import { run } from '@podwire/testkit';
import {
  buildPauseProgram,
  containerConfig,
  createDirectories,
  pauseProgram,
  inside,
  leftovers,
  type Place,
  processesNaming,
  runContainer,
  runSandbox,
  sandboxConfig,
  untilExited,
} from './fixture.js';

let place: Place;
let runtime: EmbeddedRuntime;

before(async () => {
  buildPauseProgram();
  place = createDirectories();
  const { state: directory, netns: netnsDirectory } = place;
  const network = createFakePodNetwork();
  runtime = await createNativeRuntime({ directory, netnsDirectory, network, pauseProgram });
});

after(async () => {
  for (const { id } of (await runtime.listPodSandbox({})).items)
    await runtime.removePodSandbox({ podSandboxId: id });
  const left = leftovers(place);
  await runtime.close();
  fs.rmSync(place.directory, { recursive: true });
  assert.deepEqual(left, []);
});

const sleep = ['/bin/busybox', 'sleep', '1000'];
const podOptions = (options: { network?: 0 | 2; pid?: 0 | 1 | 2; ipc?: 0 | 2 }) => ({
  linux: { securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0, ...options } as const } },
});

type ContainerFields = Parameters<typeof containerConfig>[1];

/** A container that sleeps, in a sandbox of its own. */
async function sleeper(fields: ContainerFields = {}, command: readonly string[] = sleep): Promise<string> {
  const sandbox = await runSandbox(runtime, sandboxConfig(place));
  return runContainer(runtime, sandbox, containerConfig(command, fields));
}

const status = async (containerId: string) =>
  (await runtime.containerStatus({ containerId, verbose: false })).status;

describe('the file system', () => {
  test('a container sees the root of the host and writes nothing to it', async () => {
    const id = await sleeper();
    const mark = `/etc/podwire-embedded-${process.pid}`;
    assert.equal(await inside(runtime, id, `echo hello > ${mark}; cat ${mark}; rm /etc/passwd`), 'hello\n');
    assert.equal(fs.existsSync(mark), false);
    assert.equal(fs.existsSync('/etc/passwd'), true);
    const other = await sleeper();
    assert.equal(await inside(runtime, other, `test -e ${mark} || echo none`), 'none\n');
  });

  test('mounts appear where nothing was, files and directories, writable and not, and only inside', async () => {
    const source = fs.mkdtempSync(path.join(place.directory, 'volume,with:odd\\name-'));
    fs.writeFileSync(path.join(source, 'file'), 'of the volume\n');
    const at = (containerPath: string, hostPath: string, readonly: boolean) => ({
      containerPath,
      hostPath,
      readonly,
    });
    const id = await sleeper({
      mounts: [
        at('/no/such/directory', source, true),
        at('/srv/data', source, false),
        at('/srv/data/deeper/file', path.join(source, 'file'), true),
        at('/dev/termination-log', path.join(source, 'file'), false),
      ],
    });
    assert.equal(await inside(runtime, id, 'cat /no/such/directory/file'), 'of the volume\n');
    await assert.rejects(inside(runtime, id, 'touch /no/such/directory/new'), /Read-only/);
    await assert.rejects(inside(runtime, id, 'echo x >> /srv/data/deeper/file'), /Read-only/);
    await inside(
      runtime,
      id,
      'echo added >> /dev/termination-log; mkdir /srv/data/sub; chown 12:34 /srv/data/sub',
    );
    assert.equal(fs.readFileSync(path.join(source, 'file'), 'utf8'), 'of the volume\nadded\n');
    const { uid, gid } = fs.statSync(path.join(source, 'sub'));
    assert.deepEqual([uid, gid], [12, 34]);
    assert.equal(fs.existsSync('/no'), false);
  });

  test('a mount of a path that is missing makes a directory of it, as containerd does', async () => {
    const hostPath = path.join(place.directory, 'made', 'on', 'demand');
    const id = await sleeper({ mounts: [{ containerPath: '/made', hostPath }] });
    await inside(runtime, id, 'touch /made/here');
    assert.deepEqual(fs.readdirSync(hostPath), ['here']);
  });

  test('a root directory of its own can be named by the image or by an annotation', async () => {
    const root = fs.mkdtempSync(path.join(place.directory, 'root-'));
    fs.mkdirSync(path.join(root, 'bin'));
    fs.copyFileSync('/bin/busybox', path.join(root, 'bin/busybox'));
    fs.mkdirSync(path.join(root, 'etc'));
    fs.symlinkSync('/run/nowhere/resolv.conf', path.join(root, 'etc/resolv.conf'));
    for (const fields of [
      { image: { image: `dir://${root}` } },
      { image: { image: root } },
      { annotations: { [rootAnnotation]: root } },
    ]) {
      const id = await sleeper(fields);
      const seen = await inside(
        runtime,
        id,
        '/bin/busybox ls /; /bin/busybox touch /new; cat /etc/resolv.conf',
      );
      assert.deepEqual(seen.split('\n').slice(0, 5), ['bin', 'dev', 'etc', 'proc', 'sys']);
      assert.match(seen, /nameserver|#/);
    }
    assert.deepEqual(fs.readdirSync(root), ['bin', 'etc']);
  });

  test('a root directory that is not there is refused', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place));
    for (const fields of [
      { image: { image: 'dir:///no/such' } },
      { annotations: { [rootAnnotation]: 'relative' } },
    ])
      await assert.rejects(
        runContainer(runtime, sandbox, containerConfig(sleep, fields)),
        /no directory|absolute/,
      );
  });

  test('a read-only root is one, with volumes that can be written', async () => {
    const hostPath = fs.mkdtempSync(path.join(place.directory, 'volume-'));
    const linux = { securityContext: { readonlyRootfs: true } };
    const id = await sleeper({ linux, mounts: [{ containerPath: '/data', hostPath }] });
    await assert.rejects(inside(runtime, id, 'touch /new'), /Read-only/);
    await inside(runtime, id, 'touch /data/new /dev/shm/new');
  });

  test('what the kernel would tell or take is covered, unless the container is privileged', async () => {
    const plain = await sleeper();
    assert.equal(await inside(runtime, plain, 'wc -c < /proc/timer_list'), '0\n');
    await assert.rejects(inside(runtime, plain, 'echo 1 > /proc/sys/vm/drop_caches'), /Read-only/);
    await assert.rejects(inside(runtime, plain, 'mount -t tmpfs none /mnt'), /denied|not permitted/);
    const privileged = await sleeper({ linux: { securityContext: { privileged: true } } });
    await inside(
      runtime,
      privileged,
      'mount -t tmpfs none /mnt && test -e /dev/kmsg && test -e /dev/pts/ptmx',
    );
    assert.equal(fs.readdirSync('/dev/pts').length > 0, true);
  });

  test('mounts that the host makes later are seen where that is asked for, and nowhere else', async () => {
    const source = fs.mkdtempSync(path.join(place.directory, 'shared-'));
    fs.mkdirSync(path.join(source, 'later'));
    await run(['mount', '--bind', source, source]);
    try {
      await run(['mount', '--make-shared', source]);
      const propagation = MountPropagation.PROPAGATION_HOST_TO_CONTAINER;
      const mounts = [
        { containerPath: '/slave', hostPath: source, propagation },
        { containerPath: '/private', hostPath: source },
      ];
      const id = await sleeper({ mounts });
      await run(['mount', '-t', 'tmpfs', 'none', path.join(source, 'later')]);
      fs.writeFileSync(path.join(source, 'later/file'), '');
      assert.equal(
        await inside(runtime, id, 'ls /slave/later /private/later'),
        '/private/later:\n\n/slave/later:\nfile\n',
      );
      await run(['umount', path.join(source, 'later')]);
      assert.equal(await inside(runtime, id, 'ls /slave/later'), '');
    } finally {
      await run(['umount', '-R', source]);
    }
  });

  test('mounts that the runtime cannot make are refused, with what is wrong', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place));
    const refused = async (mount: object, pattern: RegExp): Promise<void> => {
      const config = containerConfig(sleep, {
        mounts: [{ hostPath: place.logs, containerPath: '/x', ...mount }],
      });
      await assert.rejects(runContainer(runtime, sandbox, config), pattern);
    };
    await refused({ propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL }, /bidirectional/);
    await refused({ containerPath: '/x/..' }, /over the root/);
    await refused(
      { containerPath: '/etc/passwd/x' },
      /\/etc\/passwd.*Not a directory|Not a directory.*\/etc\/passwd/,
    );
  });
});

describe('processes', () => {
  test('a container without a command is refused: there are no images', async () => {
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    await assert.rejects(
      runtime.createContainer({ podSandboxId, config: containerConfig([]), sandboxConfig: undefined }),
      /has no command: the embedded runtime has no images/,
    );
  });

  test('a program that cannot be started says why, then and later', async () => {
    const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
    const config = containerConfig(['/no/such/program']);
    const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig: undefined });
    await assert.rejects(runtime.startContainer({ containerId }), /start \/no\/such\/program: No such file/);
    const after = await status(containerId);
    assert.deepEqual([after?.state, after?.exitCode, after?.reason], [2, 128, 'StartError']);
    assert.match(after?.message ?? '', /No such file/);
    await runtime.removeContainer({ containerId });
  });

  test('a container sees only its own processes, and is process 1', async () => {
    const id = await sleeper();
    const pids = await inside(
      runtime,
      id,
      'ls /proc | grep -c "^[0-9]*$"; cat /proc/1/cmdline | tr "\\0" " "',
    );
    assert.match(pids, /^[2-5]\n\/bin\/busybox sleep 1000/);
  });

  test('when a container ends, everything in it ends', async () => {
    const mark = `${place.directory}/mark-own`;
    const script = `(setsid /bin/busybox sh -c ': ${mark}; sleep 1000; :' &) ; sleep 0.2; exit 4`;
    const id = await sleeper({}, ['/bin/busybox', 'sh', '-c', script]);
    assert.equal((await untilExited(runtime, id)).exitCode, 4);
    assert.deepEqual(processesNaming(mark), []);
  });

  test('in a shared PID namespace containers see each other, and one that ends takes its own processes with it', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place, podOptions({ pid: 0 })));
    const [mark, other] = [`${place.directory}/mark-shared`, `${place.directory}/mark-other`];
    const stays = await runContainer(
      runtime,
      sandbox,
      containerConfig(['/bin/busybox', 'sh', '-c', `: ${other}; sleep 1000; :`]),
    );
    const script = `(setsid /bin/busybox sh -c ': ${mark}; sleep 1000; :' &) ; sleep 0.5; exit 5`;
    const ends = await runContainer(runtime, sandbox, containerConfig(['/bin/busybox', 'sh', '-c', script]));
    assert.match(await inside(runtime, stays, 'ps'), /mark-shared/);
    assert.equal((await untilExited(runtime, ends)).exitCode, 5);
    assert.doesNotMatch(await inside(runtime, stays, 'ps'), /mark-shared/);
    assert.match(await inside(runtime, stays, 'cat /proc/1/cmdline'), /podwire-hold/);
    await runtime.stopPodSandbox({ podSandboxId: sandbox });
    assert.deepEqual(processesNaming(other), []);
  });

  test('with the PID namespace of the host a container sees all, and takes only its own with it', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place, podOptions({ pid: NamespaceMode.NODE })));
    const mark = `${place.directory}/mark-host`;
    const options = podOptions({ pid: NamespaceMode.NODE });
    const script = `(setsid /bin/busybox sh -c ': ${mark}; sleep 1000; :' &) ; sleep 1000`;
    const id = await runContainer(
      runtime,
      sandbox,
      containerConfig(['/bin/busybox', 'sh', '-c', script], options),
    );
    assert.equal(await inside(runtime, id, `test -d /proc/${process.pid} && echo seen`), 'seen\n');
    await runtime.stopContainer({ containerId: id, timeout: 0n });
    assert.deepEqual(processesNaming(mark), []);
  });

  test('a container can join the processes of another one', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place));
    const target = await runContainer(runtime, sandbox, containerConfig(sleep));
    const linux = {
      securityContext: { namespaceOptions: { pid: NamespaceMode.TARGET, targetId: target } },
    } as const;
    const debug = await runContainer(
      runtime,
      sandbox,
      containerConfig(['/bin/busybox', 'sleep', '77'], { linux }),
    );
    assert.match(await inside(runtime, target, 'ps'), /sleep 77/);
    assert.match(await inside(runtime, debug, 'ps'), /1 root .* sleep 1000/);
  });

  test('containers of a pod share hostname, IPC, shared memory and network; the host shares nothing', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place, { hostname: 'shared-name' }));
    const one = await runContainer(runtime, sandbox, containerConfig(sleep));
    const two = await runContainer(runtime, sandbox, containerConfig(sleep));
    const namespaces = 'for each in net uts ipc; do readlink /proc/self/ns/$each; done';
    const [first, second] = [await inside(runtime, one, namespaces), await inside(runtime, two, namespaces)];
    assert.equal(first, second);
    const host = ['net', 'uts', 'ipc'].map((name) => fs.readlinkSync(`/proc/self/ns/${name}`));
    for (const each of host) assert.equal(first.includes(each), false);
    assert.equal(await inside(runtime, one, 'hostname'), 'shared-name\n');
    await inside(runtime, one, 'echo shared > /dev/shm/file');
    assert.equal(await inside(runtime, two, 'cat /dev/shm/file'), 'shared\n');
    assert.notEqual(
      await inside(runtime, one, 'readlink /proc/self/ns/mnt'),
      await inside(runtime, two, 'readlink /proc/self/ns/mnt'),
    );
  });

  test('a pod of the host has its network, hostname and hosts file', async () => {
    const config = sandboxConfig(place, { hostname: '', ...podOptions({ network: NamespaceMode.NODE }) });
    const sandbox = await runSandbox(runtime, config);
    const id = await runContainer(runtime, sandbox, containerConfig(sleep));
    assert.equal((await inside(runtime, id, 'hostname')).trim(), os.hostname());
    assert.equal(
      (await inside(runtime, id, 'readlink /proc/self/ns/net')).trim(),
      fs.readlinkSync('/proc/self/ns/net'),
    );
    assert.equal(await inside(runtime, id, 'cat /etc/hosts'), fs.readFileSync('/etc/hosts', 'utf8'));
  });

  test('sysctls of the pod are set in its namespaces; others are refused', async () => {
    const sysctls = { 'net.ipv4.ip_unprivileged_port_start': '80', 'kernel.shm_rmid_forced': '1' };
    const sandbox = await runSandbox(runtime, sandboxConfig(place, { linux: { sysctls } }));
    const id = await runContainer(runtime, sandbox, containerConfig(sleep));
    const files = '/proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/kernel/shm_rmid_forced';
    assert.equal(await inside(runtime, id, `cat ${files}`), '80\n1\n');
    const refused = ['vm.swappiness', 'net/../vm/swappiness', 'net.//.vm.swappiness', 'kernel.hostname'];
    for (const name of refused) {
      const config = sandboxConfig(place, { linux: { sysctls: { [name]: '1' } } });
      await assert.rejects(runSandbox(runtime, config), /sysctl/);
    }
    const config = sandboxConfig(place, { linux: { sysctls: { 'net.ipv4.no_such_thing': '1' } } });
    await assert.rejects(runSandbox(runtime, config), /net\/ipv4\/no_such_thing: No such file/);
  });
});

describe('rights', () => {
  const who = 'grep -E "^(Uid|Gid|Groups|CapEff|CapBnd|NoNewPrivs):" /proc/self/status | tr -s "\\t " " "';

  test('a container is root with the usual capabilities', async () => {
    const seen = await inside(runtime, await sleeper(), who);
    assert.match(seen, /Uid: 0 0 0 0\nGid: 0 0 0 0/);
    assert.match(seen, /CapEff: 00000000a00425fb\nCapBnd: 00000000a00425fb\nNoNewPrivs: 0/);
  });

  test('user, groups, capabilities and no_new_privs are as they are asked for', async () => {
    const securityContext = {
      runAsUser: { value: 1234n },
      runAsGroup: { value: 55n },
      supplementalGroups: [77n, 78n],
      noNewPrivs: true,
      capabilities: { dropCapabilities: ['ALL'], addCapabilities: ['NET_BIND_SERVICE'] },
    };
    const linux = { securityContext };
    const id = await sleeper({ linux });
    assert.match(
      await inside(runtime, id, who),
      /Uid: 1234 1234 1234 1234\nGid: 55 55 55 55\nGroups: 55 77 78 \nCapEff: 0+\nCapBnd: 0000000000000400\nNoNewPrivs: 1/,
    );
    const config = containerConfig(['/bin/busybox', 'sh', '-c', `${who}; echo again > /dev/stdout`], {
      linux,
    });
    const sandbox = await runSandbox(runtime, sandboxConfig(place));
    assert.equal((await untilExited(runtime, await runContainer(runtime, sandbox, config))).exitCode, 0);
    const log = fs.readFileSync(path.join(place.logs, config.logPath), 'utf8');
    assert.match(log, /stdout F Uid: 1234 .*stdout F again/s);
  });

  test('a user may be a name, and then has the groups and the home of that name', async () => {
    const id = await sleeper({ linux: { securityContext: { runAsUsername: 'nobody' } } });
    assert.match(
      await inside(runtime, id, `${who}; echo $HOME`),
      /Uid: 65534 .*\nGid: 65534 .*[^]*\/nonexistent/,
    );
    await assert.rejects(
      sleeper({ linux: { securityContext: { runAsUsername: 'no-such-user' } } }),
      /no user no-such-user/,
    );
  });

  test('environment and working directory are those of the container', async () => {
    const envs = [{ key: 'GREETING', value: 'hello = there' }];
    const id = await sleeper({ envs, workingDir: '/made/for/it' });
    const seen = await inside(runtime, id, 'pwd; env | sort');
    assert.match(seen, /^\/made\/for\/it\n/);
    assert.match(seen, /GREETING=hello = there\n/);
    assert.match(seen, /HOSTNAME=pod\d+\n.*PATH=\/usr/s);
    assert.doesNotMatch(seen, /npm_|NODE/);
  });

  test('nothing that the runtime has open is open in a container', async () => {
    const id = await sleeper({}, ['/bin/busybox', 'sh', '-c', 'ls -l /proc/self/fd > /tmp/fds; sleep 1000']);
    const seen = await inside(runtime, id, 'while ! test -s /tmp/fds; do sleep 0.01; done; cat /tmp/fds');
    assert.deepEqual(
      [...seen.matchAll(/ (\d+) -> (?!\/proc)/g)].map(([, fd]) => fd),
      ['0', '1', '2'],
      seen,
    );
  });
});
