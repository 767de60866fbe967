/** Refusals in the spec of a pod and in other kinds, with their words: field, message. */
import { describe, expect, test } from 'vitest';
import { checkProblem as check, problemsOf, withSpec } from './place.js';

describe('spec', () => {
  const names = Array.from({ length: 33 }, (_, index) => `n${index}`);
  test.each([
    ['restartPolicy: OnFail', 'restartPolicy', /^must be Always or OnFailure or Never/],
    ['hostNetwrk: true', 'hostNetwrk', 'unknown field (did you mean hostNetwork?)'],
    ['conatiners: []', 'conatiners', 'unknown field (did you mean containers?)'],
    ['zzz: 1', 'zzz', 'unknown field'],
    ['hostNetwork: 1', 'hostNetwork', 'must be true or false, is 1'],
    [
      'terminationGracePeriodSeconds: -1',
      'terminationGracePeriodSeconds',
      'must be a number not below 0, is -1',
    ],
    ['activeDeadlineSeconds: 0', 'activeDeadlineSeconds', 'must be a number not below 1, is 0'],
    ['readinessGates: [null]', 'readinessGates[0].conditionType', 'is missing'],
    ['ephemeralContainers: []', 'ephemeralContainers', /^is not supported/],
    ['setHostnameAsFQDN: 1', 'setHostnameAsFQDN', 'must be true or false, is 1'],
    ['hostUsers: false', 'hostUsers', /^is not supported/],
    ['os: {name: windows}', 'os.name', /^must be linux/],
    ['hostname: a.b', 'hostname', /^must be made of/],
    ['subdomain: A', 'subdomain', /^must be made of/],
    [
      'hostPID: true\nshareProcessNamespace: true',
      'shareProcessNamespace',
      /^must not be true beside hostPID/,
    ],
    ['hostAliases: [{hostnames: [a]}]', 'hostAliases[0].ip', 'is missing'],
    ['hostAliases: [{ip: 1.2.3, hostnames: [a]}]', 'hostAliases[0].ip', /^must be an IP address/],
    ['hostAliases: [{ip: "::1", hostnames: [A]}]', 'hostAliases[0].hostnames[0]', /^must be made of/],
    ['dnsPolicy: Cluster', 'dnsPolicy', /^must be ClusterFirst or/],
    ['dnsPolicy: None', 'dnsConfig.nameservers', /^must have one at least/],
    ['dnsConfig: {nameservers: [a]}', 'dnsConfig.nameservers[0]', /^must be an IP address/],
    [
      'dnsConfig: {nameservers: [1.1.1.1, 2.2.2.2, 3.3.3.3, "::4"]}',
      'dnsConfig.nameservers',
      'must not be more than 3, are 4',
    ],
    [
      `dnsConfig: {searches: [${names.join(', ')}]}`,
      'dnsConfig.searches',
      'must not be more than 32, are 33',
    ],
    [
      `dnsConfig: {searches: [${names
        .slice(0, 9)
        .map((each) => each + `.${'x'.repeat(60)}`.repeat(4))
        .join(', ')}]}`,
      'dnsConfig.searches',
      /^must not be longer than 2048 characters together, are 2\d\d\d$/,
    ],
    ['dnsConfig: {searches: ["a b"]}', 'dnsConfig.searches[0]', /^must be made of/],
    ['dnsConfig: {options: [{value: a}]}', 'dnsConfig.options[0].name', 'is missing'],
    ['securityContext: {fsGroup: -1}', 'securityContext.fsGroup', /not below 0/],
    [
      'securityContext: {sysctls: [{name: net.a, value: "1"}, {name: net/a, value: "1"}]}',
      'securityContext.sysctls[1].name',
      'a setting "net.a" is there already',
    ],
    [
      'securityContext: {sysctls: [{name: Net, value: "1"}]}',
      'securityContext.sysctls[0].name',
      /^must be made of/,
    ],
    [
      'securityContext: {sysctls: [{name: vm.swappiness, value: "1"}]}',
      'securityContext.sysctls[0].name',
      /^vm.swappiness belongs to the node: only net/,
    ],
    [
      'hostNetwork: true\nsecurityContext: {sysctls: [{name: net.ipv4.ip_forward, value: "1"}]}',
      'securityContext.sysctls[0].name',
      'net.ipv4.ip_forward belongs to the node: hostNetwork is true',
    ],
    [
      'hostIPC: true\nsecurityContext: {sysctls: [{name: kernel.shmmax, value: "1"}]}',
      'securityContext.sysctls[0].name',
      /hostIPC is true$/,
    ],
    ['volumes: [{emptyDir: {}}]', 'volumes[0].name', 'is missing'],
    ['volumes: [{name: a}, {name: a}]', 'volumes[1].name', 'a volume "a" is there already'],
    [
      'volumes: [{name: a, emptyDir: {}, hostPath: {path: /a}}]',
      'volumes[0]',
      /^must have one source, has emptyDir and/,
    ],
    ['volumes: [{name: a, emptydir: {}}]', 'volumes[0].emptydir', 'unknown field (did you mean emptyDir?)'],
    [
      'volumes: [{name: a, secret: {secretName: x}}]',
      'volumes[0].secret',
      'is not supported: Podwire has emptyDir, hostPath and configMap',
    ],
    [
      'volumes: [{name: a, persistentVolumeClaim: {}}]',
      'volumes[0].persistentVolumeClaim',
      /^is not supported/,
    ],
    ['volumes: [{name: a, projected: {}}]', 'volumes[0].projected', /^is not supported/],
    ['volumes: [{name: a, hostPath: {}}]', 'volumes[0].hostPath.path', 'is missing'],
    ['volumes: [{name: a, hostPath: {path: /a/..}}]', 'volumes[0].hostPath.path', /^must not contain \.\./],
    [
      'volumes: [{name: a, hostPath: {path: /a, type: Dir}}]',
      'volumes[0].hostPath.type',
      /^must be DirectoryOrCreate/,
    ],
    [
      'volumes: [{name: a, emptyDir: {medium: HugePages}}]',
      'volumes[0].emptyDir.medium',
      'must be Memory, is "HugePages"',
    ],
    [
      'volumes: [{name: a, emptyDir: {sizeLimit: x}}]',
      'volumes[0].emptyDir.sizeLimit',
      /^must be a quantity/,
    ],
    ['volumes: [{name: a, configMap: {}}]', 'volumes[0].configMap.name', 'is missing'],
    [
      'volumes: [{name: a, configMap: {name: b, items: [{key: c, path: ../d}]}}]',
      'volumes[0].configMap.items[0].path',
      /^must not contain/,
    ],
    [
      'volumes: [{name: a, configMap: {name: b, items: [{key: c, path: ..data}]}}]',
      'volumes[0].configMap.items[0].path',
      'must not begin with .., is "..data"',
    ],
    [
      'volumes: [{name: a, configMap: {name: b, defaultMode: 01000}}]',
      'volumes[0].configMap.defaultMode',
      'must be a number from 0 to 511, is 512',
    ],
  ])('%s', (rest, field, message) => check(withSpec(rest), `spec.${field}`, message));

  test('what is missing altogether', () => {
    check('apiVersion: v1\nkind: Pod\nmetadata: {name: a}', 'spec', 'is missing');
  });
});

describe('kinds', () => {
  test.each([
    [
      'apiVersion: v1\nkind: pod',
      'kind',
      'must be Pod or PodList or List or ConfigMap, is "pod" (did you mean Pod?)',
    ],
    [
      'apiVersion: apps/v1\nkind: Deployment',
      'kind',
      /^Podwire runs Pods, not a Deployment: .*spec\.template/,
    ],
    ['apiVersion: v1\nkind: Service', 'kind', /not a Service: .*hostPort/],
    ['apiVersion: batch/v1\nkind: Job', 'kind', /not a Job: .*restartPolicy/],
    ['apiVersion: v1\nkind: Widget', 'kind', 'must be Pod or PodList or List or ConfigMap, is "Widget"'],
    ['apiVersion: v1', 'kind', /, is missing$/],
    ['apiVersion: v1\nkind: List', 'items', 'is missing'],
    ['apiVersion: v1\nkind: List\nitems: [{apiVersion: v1}]', 'items[0].kind', /, is missing$/],
    ['apiVersion: v1\nkind: List\nitems: [7]', 'items[0]', 'must be a map, is 7'],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}',
      'data.a',
      'must be text, is 1; put it into quotes',
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a b: x}',
      'data."a b"',
      /^the key must be/,
    ],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {..: x}', 'data.".."', /^the key must be/],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nbinaryData: {a: "?"}',
      'binaryData.a',
      'must be base64',
    ],
    [
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: x}\nbinaryData: {a: eA==}',
      'binaryData.a',
      'stands in data too',
    ],
  ])('%s', (text, field, message) => check(text, field, message));

  test('a version of another age', () => {
    expect(problemsOf(withSpec('').replace('v1', 'v1beta3'))).toEqual([
      'web.yaml:1:1: apiVersion: must be v1, is "v1beta3"',
    ]);
  });
});
