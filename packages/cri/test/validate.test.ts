import { describe, expect, test } from 'vitest';
import {
  AttachRequest,
  CreateContainerRequest,
  ExecRequest,
  ExecSyncRequest,
  type MethodName,
  PortForwardRequest,
  RunPodSandboxRequest,
  StopContainerRequest,
  validateRequest,
} from '../src/index.js';

const metadata = { name: 'web', namespace: 'default', uid: 'u-1' };
const image = { image: 'busybox' };
const sandbox = (config: object) => RunPodSandboxRequest.fromPartial({ config: { metadata, ...config } });
const container = (config: object) =>
  CreateContainerRequest.fromPartial({
    podSandboxId: 's',
    config: { metadata: { name: 'main' }, image, ...config },
  });

const good: readonly (readonly [MethodName, unknown])[] = [
  ['version', {}],
  ['listContainers', {}],
  ['runPodSandbox', sandbox({})],
  [
    'runPodSandbox',
    sandbox({
      hostname: 'h'.repeat(64),
      logDirectory: '/var/log/pods/x',
      dnsConfig: { servers: ['10.0.0.10', 'fd00::1'], searches: ['a.b'], options: ['ndots:5'] },
      portMappings: [{ containerPort: 80 }, { containerPort: 65_535, hostPort: 65_535 }],
    }),
  ],
  ['createContainer', container({ envs: [{ key: 'A', value: '' }], logPath: 'main/0.log', workingDir: '/' })],
  [
    'createContainer',
    container({ linux: { securityContext: { runAsUsername: 'web', runAsGroup: { value: 3n } } } }),
  ],
  ...['', 'unconfined', 'runtime/default', 'docker/default', 'localhost//etc/profile.json'].map(
    (seccompProfilePath) =>
      ['createContainer', container({ linux: { securityContext: { seccompProfilePath } } })] as const,
  ),
  ['stopContainer', StopContainerRequest.fromPartial({ containerId: 'c' })],
  ['exec', ExecRequest.fromPartial({ containerId: 'c', cmd: ['sh'], tty: true, stdin: true, stdout: true })],
  ['portForward', PortForwardRequest.fromPartial({ podSandboxId: 's' })],
];

const bad: readonly (readonly [MethodName, unknown, string])[] = [
  ['runPodSandbox', RunPodSandboxRequest.fromPartial({}), 'config is missing'],
  ['runPodSandbox', RunPodSandboxRequest.fromPartial({ config: {} }), 'config.metadata is missing'],
  ['runPodSandbox', sandbox({ metadata: { ...metadata, name: '' } }), 'config.metadata.name is empty'],
  ['runPodSandbox', sandbox({ metadata: { ...metadata, uid: '' } }), 'config.metadata.uid is empty'],
  ['runPodSandbox', sandbox({ metadata: { ...metadata, namespace: '../x' } }), 'config.metadata.namespace'],
  ['runPodSandbox', sandbox({ hostname: 'h'.repeat(65) }), 'config.hostname is longer'],
  ['runPodSandbox', sandbox({ logDirectory: 'logs' }), 'config.log_directory "logs"'],
  ['runPodSandbox', sandbox({ dnsConfig: { searches: ['a', 'b\nnameserver 1.2.3.4'] } }), 'searches[1]'],
  ['runPodSandbox', sandbox({ portMappings: [{ containerPort: 0 }] }), 'port_mappings[0].container_port 0'],
  ['runPodSandbox', sandbox({ portMappings: [{ containerPort: 1, hostPort: 65_536 }] }), 'host_port 65536'],
  ['stopPodSandbox', { podSandboxId: '' }, 'pod_sandbox_id is empty'],
  ['podSandboxStatus', { podSandboxId: 'a/../b' }, 'pod_sandbox_id "a/../b"'],
  ['removePodSandbox', { podSandboxId: '..' }, 'pod_sandbox_id ".."'],
  ['createContainer', CreateContainerRequest.fromPartial({ podSandboxId: 's' }), 'config is missing'],
  ['createContainer', container({ metadata: undefined }), 'config.metadata is missing'],
  ['createContainer', container({ image: undefined }), 'config.image is missing'],
  ['createContainer', container({ image: { image: '' } }), 'config.image.image is empty'],
  ['createContainer', container({ envs: [{ key: 'A=B' }] }), 'config.envs[0].key'],
  ['createContainer', container({ mounts: [{ hostPath: '/a', containerPath: 'b' }] }), 'container_path "b"'],
  ['createContainer', container({ logPath: 'a/../../b' }), 'config.log_path "a/../../b"'],
  ['createContainer', container({ logPath: '/etc/passwd' }), 'config.log_path'],
  ...[sandbox, container].flatMap((make) => {
    const method = make === sandbox ? 'runPodSandbox' : 'createContainer';
    const group = make({ linux: { securityContext: { runAsGroup: { value: 3n } } } });
    const profile = make({ linux: { securityContext: { seccompProfilePath: '/etc/profile.json' } } });
    return [
      [method, group, 'security_context.run_as_group'],
      [method, profile, 'seccomp_profile_path "/etc/profile.json"'],
    ] as const;
  }),
  ['stopContainer', StopContainerRequest.fromPartial({ containerId: 'c', timeout: -1n }), 'timeout -1'],
  ['execSync', ExecSyncRequest.fromPartial({ containerId: 'c' }), 'cmd is empty'],
  ['execSync', ExecSyncRequest.fromPartial({ containerId: 'c', cmd: [''] }), 'cmd is empty'],
  [
    'exec',
    ExecRequest.fromPartial({ containerId: 'c', cmd: ['sh'], tty: true, stderr: true }),
    'tty and stderr cannot go together',
  ],
  ['attach', AttachRequest.fromPartial({ containerId: 'c' }), 'are all off'],
  ['portForward', PortForwardRequest.fromPartial({ podSandboxId: 's', port: [80, 0] }), 'port[1] 0'],
  ['pullImage', {}, 'image is missing'],
  ['removeImage', { image: { image: '' } }, 'image.image is empty'],
];

describe('requests', () => {
  test.each(good)('%s is taken: %o', (method, request) => {
    expect(() => validateRequest(method, request)).not.toThrow();
  });

  test.each(bad)('%s of %o is refused: %s', (method, request, message) => {
    expect(() => validateRequest(method, request)).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });
});
