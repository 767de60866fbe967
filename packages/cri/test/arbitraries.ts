/** Messages with whatever may stand in them. */
import fc, { type Arbitrary } from 'fast-check';
import {
  ContainerConfig,
  ContainerState,
  ContainerStats,
  ContainerStatus,
  LinuxContainerResources,
  Mount,
  NamespaceMode,
  PodSandboxConfig,
  PodSandboxState,
  PodSandboxStatus,
  PodSandboxStatusResponse,
  Protocol,
} from '../src/index.js';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const texts = fc.array(text, { maxLength: 3 });
/** `__proto__` cannot be a key of a plain object; keys of labels and annotations begin with a letter or digit. */
const labels = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  text,
  { maxKeys: 3, noNullPrototype: true },
);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const memberOf = <T extends number>(values: Readonly<Record<string, T>>): Arbitrary<T> =>
  fc.constantFrom(...Object.values(values));
const maybe = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const uint64Value = maybe(fc.record({ value: uint64 }));
const int64Value = maybe(fc.record({ value: int64 }));

const resources = fc
  .record({
    ...{ cpuPeriod: int64, cpuQuota: int64, cpuShares: int64, memoryLimitInBytes: int64 },
    ...{ cpusetCpus: text, unified: labels },
    hugepageLimits: fc.array(fc.record({ pageSize: text, limit: uint64 }), { maxLength: 2 }),
  })
  .map((fields) => LinuxContainerResources.fromPartial(fields));

const mounts = fc.array(
  fc
    .record({ containerPath: text, hostPath: text, readonly: fc.boolean() })
    .map((fields) => Mount.fromPartial(fields)),
  { maxLength: 2 },
);

const podMetadata = maybe(fc.record({ name: text, uid: text, namespace: text, attempt: uint32 }));
const containerMetadata = maybe(fc.record({ name: text, attempt: uint32 }));

const namespaceOptions = fc.record({
  network: memberOf(NamespaceMode),
  pid: memberOf(NamespaceMode),
  ipc: memberOf(NamespaceMode),
  targetId: text,
});

const portMapping = fc.record({
  protocol: memberOf(Protocol),
  containerPort: int32,
  hostPort: int32,
  hostIp: text,
});

export const podSandboxConfig = fc
  .record({
    ...{ metadata: podMetadata, hostname: text, logDirectory: text, labels, annotations: labels },
    dnsConfig: maybe(fc.record({ servers: texts, searches: texts, options: texts })),
    portMappings: fc.array(portMapping, { maxLength: 3 }),
    linux: maybe(
      fc.record({
        ...{ cgroupParent: text, sysctls: labels, overhead: maybe(resources) },
        securityContext: maybe(
          fc.record({ namespaceOptions, runAsUser: int64Value, privileged: fc.boolean() }),
        ),
      }),
    ),
  })
  .map((fields) => PodSandboxConfig.fromPartial(fields));

export const containerConfig = fc
  .record({
    ...{ metadata: containerMetadata, command: texts, args: texts, workingDir: text, mounts },
    ...{ labels, annotations: labels, logPath: text, stdin: fc.boolean(), tty: fc.boolean() },
    image: maybe(fc.record({ image: text, userSpecifiedImage: text })),
    envs: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
    CDIDevices: fc.array(fc.record({ name: text }), { maxLength: 2 }),
    linux: maybe(fc.record({ resources: maybe(resources) })),
  })
  .map((fields) => ContainerConfig.fromPartial(fields));

export const containerStatus = fc
  .record({
    ...{ id: text, metadata: containerMetadata, state: memberOf(ContainerState), mounts },
    ...{ createdAt: int64, startedAt: int64, finishedAt: int64, exitCode: int32 },
    ...{ reason: text, message: text, labels, annotations: labels, logPath: text, imageRef: text },
    resources: maybe(fc.record({ linux: maybe(resources) })),
  })
  .map((fields) => ContainerStatus.fromPartial(fields));

const podSandboxStatus = fc
  .record({
    ...{ id: text, metadata: podMetadata, state: memberOf(PodSandboxState), createdAt: int64 },
    ...{ labels, annotations: labels, runtimeHandler: text },
    network: maybe(
      fc.record({ ip: text, additionalIps: fc.array(fc.record({ ip: text }), { maxLength: 2 }) }),
    ),
    linux: maybe(fc.record({ namespaces: maybe(fc.record({ options: maybe(namespaceOptions) })) })),
  })
  .map((fields) => PodSandboxStatus.fromPartial(fields));

export const podSandboxStatusResponse = fc
  .record({
    ...{ status: maybe(podSandboxStatus), info: labels, timestamp: int64 },
    containersStatuses: fc.array(containerStatus, { maxLength: 2 }),
  })
  .map((fields) => PodSandboxStatusResponse.fromPartial(fields));

export const containerStats = fc
  .record({
    attributes: maybe(fc.record({ id: text, labels })),
    cpu: maybe(fc.record({ timestamp: int64, usageCoreNanoSeconds: uint64Value })),
    memory: maybe(fc.record({ timestamp: int64, workingSetBytes: uint64Value, rssBytes: uint64Value })),
    writableLayer: maybe(fc.record({ usedBytes: uint64Value, inodesUsed: uint64Value })),
  })
  .map((fields) => ContainerStats.fromPartial(fields));
