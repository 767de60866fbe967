/** Refusals in metadata and containers, with their words: field, message. */
import { describe, expect, test } from 'vitest';
import { checkProblem as check, problemsOf, withContainer, withMetadata } from './place.js';

describe('metadata', () => {
  test.each([
    ['', 'metadata.name', 'is missing'],
    ['name: ""', 'metadata.name', 'must not be empty'],
    ['name: Web', 'metadata.name', /^must be made of small letters.*, is "Web"$/],
    ['name: 7', 'metadata.name', 'must be text, is 7; put it into quotes'],
    ['name: {}', 'metadata.name', 'must be text, is a map'],
    [`name: ${'a'.repeat(254)}`, 'metadata.name', /^must be made of/],
    ['name: a, namespace: a.b', 'metadata.namespace', /^must be made of/],
    ['name: a, namespce: b', 'metadata.namespce', 'unknown field (did you mean namespace?)'],
    ['name: a, uid: "x;y"', 'metadata.uid', /^must be made of letters/],
    ['name: a, uid: ../x', 'metadata.uid', /^must be made of letters/],
    ['name: a, labels: []', 'metadata.labels', 'must be a map, is a list'],
    ['name: a, labels: {a: 1}', 'metadata.labels.a', 'must be text, is 1; put it into quotes'],
    ['name: a, labels: {a: "b c"}', 'metadata.labels.a', /^must be made of/],
    ['name: a, labels: {a/b/c: d}', 'metadata.labels."a/b/c"', /^must be a name such as/],
    ['name: a, labels: {A.B/c: d}', 'metadata.labels."A.B/c"', /^must be a name such as/],
    ['name: a, annotations: {x: true}', 'metadata.annotations.x', /^must be text, is true/],
  ])('{%s}', (rest, field, message) => check(withMetadata(rest), field, message));

  test('annotations together are limited, and may have capitals in front', () => {
    expect(problemsOf(withMetadata('name: a, annotations: {A.B/c: d}'))).toEqual([]);
    const half = 'x'.repeat(130 * 1024);
    check(
      withMetadata(`name: a, annotations: {a: ${half}, b: ${half}}`),
      'metadata.annotations',
      'are larger than 256 KiB together',
    );
  });

  test.each([
    ['10Q', /^must be a quantity in bits per second such as 10M, is "10Q"$/],
    ['999', /^must lie between 1k and 1P bits per second, is 999$/],
    ['1001T', /^must lie between/],
    ['-10M', /^must lie between/],
  ])('bandwidth %s', (rate, message) => {
    for (const direction of ['ingress', 'egress']) {
      const key = `kubernetes.io/${direction}-bandwidth`;
      check(
        withMetadata(`name: a, annotations: {${key}: "${rate}"}`),
        `metadata.annotations."${key}"`,
        message,
      );
      expect(problemsOf(withMetadata(`name: a, annotations: {${key}: "1P"}`))).toEqual([]);
    }
  });
});

describe('containers', () => {
  const path = 'spec.containers[0]';
  test.each([
    ['ports: {}', 'ports', 'must be a list, is a map'],
    ['ports: [7]', 'ports[0]', 'must be a map, is 7'],
    ['ports: [{}]', 'ports[0].containerPort', 'is missing'],
    ['ports: [{containerPort: 0}]', 'ports[0].containerPort', 'must be a number from 1 to 65535, is 0'],
    ['ports: [{containerPort: 65536}]', 'ports[0].containerPort', /is 65536$/],
    ['ports: [{containerPort: 1.5}]', 'ports[0].containerPort', /is 1.5$/],
    [
      'ports: [{containerPort: 1}, {containerPort: 2, hostPort: "80"}]',
      'ports[1].hostPort',
      'must be a number from 1 to 65535, is "80"',
    ],
    [
      'ports: [{containerPort: 2, hostport: 80}]',
      'ports[0].hostport',
      'unknown field (did you mean hostPort?)',
    ],
    [
      'ports: [{containerPort: 2, protocol: tcp}]',
      'ports[0].protocol',
      'must be TCP or UDP or SCTP, is "tcp" (did you mean TCP?)',
    ],
    ['ports: [{containerPort: 2, hostIP: localhost}]', 'ports[0].hostIP', /^must be an IP address/],
    ['ports: [{containerPort: 2, name: Web}]', 'ports[0].name', /^must be made of/],
    ['ports: [{containerPort: 2, name: "12"}]', 'ports[0].name', /one letter at least/],
    ['ports: [{containerPort: 2, name: a--b}]', 'ports[0].name', /^must be made of/],
    ['ports: [{containerPort: 2, name: abcdefghijklmnop}]', 'ports[0].name', /at most 15/],
    [
      'ports: [{containerPort: 2, name: a}, {containerPort: 3, name: a}]',
      'ports[1].name',
      'a port "a" is there already',
    ],
    [
      'ports: [{containerPort: 2, hostPort: 9}, {containerPort: 3, hostPort: 9}]',
      'ports[1].hostPort',
      'TCP port 9 is asked for by container main already',
    ],
    ['command: sh', 'command', 'must be a list, is "sh"'],
    ['command: [sleep, 1]', 'command[1]', 'must be text, is 1; put it into quotes'],
    ['imagePullPolicy: always', 'imagePullPolicy', /did you mean Always/],
    ['stdin: "yes"', 'stdin', 'must be true or false, is "yes"'],
    ['env: [{value: a}]', 'env[0].name', 'is missing'],
    ['env: [{name: A=B}]', 'env[0].name', /^must be made of/],
    ['env: [{name: ä}]', 'env[0].name', /^must be made of/],
    ['env: [{name: A, value: 1}]', 'env[0].value', 'must be text, is 1; put it into quotes'],
    [
      'env: [{name: A, value: off}]',
      'env[0].value',
      'must be text, is false (so YAML reads n, no, off and false); put it into quotes',
    ],
    ['env: [{name: A, valueFrom: {}}]', 'env[0].valueFrom', 'must have one of fieldRef, configMapKeyRef'],
    [
      'env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]',
      'env[0].valueFrom',
      'must not stand beside a value',
    ],
    [
      'env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]',
      'env[0].valueFrom.fieldRef.fieldPath',
      /^must be /,
    ],
    [
      'env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b}}}]',
      'env[0].valueFrom.secretKeyRef',
      /^is not supported: there are no secrets/,
    ],
    [
      'env: [{name: A, valueFrom: {configMapKeyRef: {name: a}}}]',
      'env[0].valueFrom.configMapKeyRef.key',
      'is missing',
    ],
    ['envFrom: [{}]', 'envFrom[0]', 'must have configMapRef'],
    ['envFrom: [{secretRef: {name: a}}]', 'envFrom[0].secretRef', /^is not supported/],
    ['volumeMounts: [{name: data}]', 'volumeMounts[0].mountPath', 'is missing'],
    ['volumeMounts: [{name: data, mountPath: "/a:b"}]', 'volumeMounts[0].mountPath', /must not contain ":"/],
    [
      'volumeMounts: [{name: dta, mountPath: /a}]',
      'volumeMounts[0].name',
      'there is no volume "dta" (did you mean data?)',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a}, {name: data, mountPath: /a}]',
      'volumeMounts[1].mountPath',
      'a mount at "/a" is there already',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, subPath: /x}]',
      'volumeMounts[0].subPath',
      /^must not begin/,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, subPath: a/../..}]',
      'volumeMounts[0].subPath',
      /^must not contain/,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, subPathExpr: x}]',
      'volumeMounts[0].subPathExpr',
      /^is not supp/,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, mountPropagation: Bidirectional}]',
      'volumeMounts[0].mountPropagation',
      /^Bidirectional needs a container with securityContext.privileged$/,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, mountPropagation: Both}]',
      'volumeMounts[0].mountPropagation',
      /^must be None or HostToContainer or Bidirectional/,
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, recursiveReadOnly: Enabled}]',
      'volumeMounts[0].recursiveReadOnly',
      'needs readOnly: true',
    ],
    [
      'volumeMounts: [{name: data, mountPath: /a, readOnly: true, recursiveReadOnly: IfPossible, mountPropagation: HostToContainer}]',
      'volumeMounts[0].recursiveReadOnly',
      'cannot be had with mountPropagation',
    ],
    ['volumeDevices: []', 'volumeDevices', /^is not supported/],
    ['resources: {limits: {cpu: much}}', 'resources.limits.cpu', /^must be a quantity/],
    ['resources: {limits: {cpu: -1}}', 'resources.limits.cpu', 'must not be negative, is -1'],
    ['resources: {limits: {CPU: 1}}', 'resources.limits.CPU', /^unknown resource; .*\(did you mean cpu\?\)$/],
    ['resources: {limits: {example.com/gpu: 1}}', 'resources.limits."example.com/gpu"', /^unknown resource/],
    ['envFrom: [{configMapRef: {name: a}, prefix: A=}]', 'envFrom[0].prefix', /^must be made of/],
    [
      'securityContext: {seccompProfile: {type: Localhost}}',
      'securityContext.seccompProfile.localhostProfile',
      'is missing',
    ],
    [
      'securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: a}}',
      'securityContext.seccompProfile.localhostProfile',
      'is only for the type Localhost',
    ],
    [
      'resources: {limits: {cpu: 500m}, requests: {cpu: 700m}}',
      'resources.requests.cpu',
      'must not be above the limit 500m, is 700m',
    ],
    ['restartPolicy: Always', 'restartPolicy', /^only an init container/],
    [
      'livenessProbe: {}',
      'livenessProbe',
      'must have exactly one of exec, httpGet, tcpSocket, grpc; it has none',
    ],
    [
      'livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}',
      'livenessProbe',
      /it has exec and tcpSocket$/,
    ],
    ['livenessProbe: {exec: {}}', 'livenessProbe.exec.command', /^must have the program/],
    ['livenessProbe: {tcpSocket: {}}', 'livenessProbe.tcpSocket.port', 'is missing'],
    ['livenessProbe: {tcpSocket: {port: 0}}', 'livenessProbe.tcpSocket.port', /^must be a number from 1/],
    [
      'livenessProbe: {tcpSocket: {port: web}}',
      'livenessProbe.tcpSocket.port',
      'the container has no port "web"',
    ],
    ['livenessProbe: {grpc: {port: web}}', 'livenessProbe.grpc.port', /^must be a number/],
    [
      'livenessProbe: {httpGet: {port: 1, scheme: http}}',
      'livenessProbe.httpGet.scheme',
      /did you mean HTTP/,
    ],
    [
      'livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}',
      'livenessProbe.successThreshold',
      'must be 1 for a liveness probe, is 2',
    ],
    [
      'readinessProbe: {tcpSocket: {port: 1}, periodSeconds: -1}',
      'readinessProbe.periodSeconds',
      /not below 0/,
    ],
    [
      'readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}',
      'readinessProbe.terminationGracePeriodSeconds',
      /^has no meaning/,
    ],
    ['lifecycle: {preStop: {sleep: {seconds: 1}}}', 'lifecycle.preStop', /^must have exactly one/],
    ['lifecycle: {preStop: {exec: {command: [a]}, x: 1}}', 'lifecycle.preStop.x', 'unknown field'],
    ['securityContext: {runAsUser: -1}', 'securityContext.runAsUser', 'must be a number not below 0, is -1'],
    [
      'securityContext: {privileged: true, allowPrivilegeEscalation: false}',
      'securityContext.allowPrivilegeEscalation',
      'must not be false beside privileged',
    ],
    [
      'securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}, allowPrivilegeEscalation: false}',
      'securityContext.allowPrivilegeEscalation',
      /SYS_ADMIN$/,
    ],
    ['securityContext: {windowsOptions: {}}', 'securityContext.windowsOptions', /it is for Windows$/],
    ['terminationMessagePolicy: file', 'terminationMessagePolicy', /did you mean File/],
  ])('{%s}', (rest, field, message) => {
    if (rest.includes('sleep: {')) return expect(problemsOf(withContainer(rest))).toHaveLength(2);
    return check(withContainer(rest), `${path}.${field}`, message);
  });

  test.each([
    ['containers: []', 'spec.containers', 'must have one container at least'],
    ['containers:', 'spec.containers', 'is missing'],
    ['containers: {}', 'spec.containers', 'must be a list, is a map'],
    ['containers: [{name: a}]', 'spec.containers[0].image', 'is missing'],
    ['containers: [{name: a, image: " b"}]', 'spec.containers[0].image', /^must not have spaces/],
    ['containers: [{image: b}]', 'spec.containers[0].name', 'is missing'],
    ['containers: [{name: a.b, image: b}]', 'spec.containers[0].name', /^must be made of/],
    [
      'containers: [{name: a, image: b}, {name: a, image: b}]',
      'spec.containers[1].name',
      'a container "a" is there already',
    ],
    [
      'containers: [{name: a, image: b}]\n  initContainers: [{name: a, image: b}]',
      'spec.containers[0].name',
      'a container "a" is there already',
    ],
    [
      'containers: [{name: a, image: b, ports: [{containerPort: 1, hostPort: 5}]}]\n' +
        '  initContainers: [{name: s, image: b, restartPolicy: Always, ports: [{containerPort: 1, hostPort: 5}]}]',
      'spec.containers[0].ports[0].hostPort',
      'TCP port 5 is asked for by container s already',
    ],
    [
      'containers: [{name: a, image: b}]\n  initContainers: [{name: i, image: b, lifecycle: {preStop: {tcpSocket: {port: 1}}}}]',
      'spec.initContainers[0].lifecycle',
      /^an init container must not have it/,
    ],
    [
      'containers: [{name: a, image: b}]\n  initContainers: [{name: i, image: b, readinessProbe: {tcpSocket: {port: 1}}}]',
      'spec.initContainers[0].readinessProbe',
      /^an init container must not have it/,
    ],
    [
      'containers: [{name: a, image: b}]\n  initContainers: [{name: i, image: b, restartPolicy: Never}]',
      'spec.initContainers[0].restartPolicy',
      'must be Always, is "Never"',
    ],
    [
      'hostNetwork: true\n  containers: [{name: a, image: b, ports: [{containerPort: 80, hostPort: 8080}]}]',
      'spec.containers[0].ports[0].hostPort',
      /^must be 80 as containerPort, since hostNetwork is true, is 8080/,
    ],
  ])('spec: %s', (spec, field, message) => {
    check(`apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  ${spec}`, field, message);
  });
});
