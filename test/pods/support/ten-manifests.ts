/** One set of manifests for every runtime and every network, and what has to come of them. */
import { type Fields, container, lingering, pod, serving, webPod } from './manifests.js';

const probeOften = { periodSeconds: 1, timeoutSeconds: 2 };

/** `out` is a directory of the machine that the pods write into. */
export function makeManifests(out: string): Readonly<Record<string, Fields>> {
  return {
    'settings.json': {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'shop' },
      data: { colour: 'red', 'app.conf': 'from the config map\n' },
    },
    'full.json': makeFull(out),
    'client.json': webPod('client'),
    'onhost.json': makeOnHost(),
    'once-ok.json': pod('once-ok', [container('job', 'echo done')], { restartPolicy: 'Never' }),
    'once-bad.json': pod('once-bad', [container('job', 'echo broken >&2; exit 3')], {
      restartPolicy: 'Never',
    }),
    'retry.json': makeRetry(),
    'shaky.json': makeShaky(),
    'graceful.json': makeGraceful(out),
    'bad-init.json': pod('bad-init', [container('main', 'echo never')], {
      restartPolicy: 'Never',
      initContainers: [container('prepare', 'exit 7')],
    }),
  };
}

/** An init container, a sidecar and two containers that share a directory, and tell what they find. */
function makeFull(out: string): Fields {
  const mounts = [
    { name: 'shared', mountPath: '/shared' },
    { name: 'out', mountPath: '/out' },
    { name: 'conf', mountPath: '/conf' },
  ];
  const field = (name: string, fieldPath: string): Fields => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  const web = container(
    'web',
    `cat /etc/hosts > /out/hosts; cat /etc/resolv.conf > /out/resolv.conf; hostname > /out/hostname
     echo "$POD $SPACE $NODE $APP $COLOUR $GREETING" > /out/env; echo "$IP" > /out/ip
     cat /conf/app.conf > /out/conf; cat /shared/init > /out/init; echo one; echo two >&2
     /bin/busybox httpd -p 80 -h /shared; ${lingering}`,
    {
      env: [
        field('IP', 'status.podIP'),
        field('POD', 'metadata.name'),
        field('SPACE', 'metadata.namespace'),
        field('NODE', 'spec.nodeName'),
        field('APP', "metadata.labels['app']"),
        { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
        { name: 'GREETING', value: 'hello from $(POD)' },
      ],
      ports: [{ containerPort: 80, hostPort: 8080 }],
      readinessProbe: { httpGet: { path: '/late.html', port: 80 }, ...probeOften },
      lifecycle: {
        postStart: { exec: { command: ['/bin/busybox', 'sh', '-c', 'echo started > /shared/hook.html'] } },
      },
      volumeMounts: mounts,
    },
  );
  // The readiness of the one waits for what the other writes.
  const writer = container('writer', `echo late > /shared/late.html; echo writing; ${lingering}`, {
    volumeMounts: mounts,
  });
  const sidecar = container('sidecar', `echo beside > /shared/sidecar.html; ${lingering}`, {
    restartPolicy: 'Always',
    volumeMounts: mounts,
    startupProbe: {
      exec: { command: ['/bin/busybox', 'test', '-e', '/shared/sidecar.html'] },
      ...probeOften,
    },
  });
  const init = container('init', 'echo "init was here" > /shared/init; echo prepared', {
    volumeMounts: mounts,
  });
  const annotations = {
    'kubernetes.io/ingress-bandwidth': '16M',
    'kubernetes.io/egress-bandwidth': '8M',
  };
  return pod(
    'full',
    [web, writer],
    {
      initContainers: [init, sidecar],
      hostname: 'somewhere',
      hostAliases: [{ ip: '192.0.2.77', hostnames: ['friend', 'friend.example'] }],
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.53'],
        searches: ['shop.example', 'example'],
        options: [{ name: 'ndots', value: '3' }],
      },
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'out', hostPath: { path: out, type: 'Directory' } },
        { name: 'conf', configMap: { name: 'settings' } },
      ],
    },
    { labels: { app: 'shop' }, annotations },
  );
}

function makeOnHost(): Fields {
  const readinessProbe = { tcpSocket: { port: 8181 }, ...probeOften };
  const web = container('web', serving('on the host', 8181), { readinessProbe });
  return pod('onhost', [web], { hostNetwork: true });
}

const counted = { volumes: [{ name: 'count', emptyDir: {} }] };
const counter = { volumeMounts: [{ name: 'count', mountPath: '/count' }] };

/** Fails once, and not again: what it has written outlives its container. */
function makeRetry(): Fields {
  const script = 'test -e /count/once && { echo again; exit 0; }; touch /count/once; echo first; exit 4';
  return pod('retry', [container('job', script.replace('touch', '/bin/busybox touch'), counter)], {
    restartPolicy: 'OnFailure',
    ...counted,
  });
}

/** Its first instance is found dead; the second one is well. */
function makeShaky(): Fields {
  const script = `test -e /count/once && echo well > /tmp/well; echo x > /count/once; echo up; ${lingering}`;
  const exec = { command: ['/bin/busybox', 'test', '-e', '/tmp/well'] };
  const livenessProbe = { exec, ...probeOften, failureThreshold: 1 };
  return pod('shaky', [container('main', script, { ...counter, livenessProbe })], counted);
}

function makeGraceful(out: string): Fields {
  const script = `trap 'echo bye >> /out/graceful; exit 0' TERM; echo up; /bin/busybox sleep 100000 & wait`;
  const preStop = { exec: { command: ['/bin/busybox', 'sh', '-c', 'echo hook >> /out/graceful'] } };
  const main = container('main', script, {
    lifecycle: { preStop },
    volumeMounts: [{ name: 'out', mountPath: '/out' }],
  });
  return pod('graceful', [main], {
    terminationGracePeriodSeconds: 20,
    volumes: [{ name: 'out', hostPath: { path: out } }],
  });
}

/** Everything that a test can see of the manifests, on every runtime and with every network. */
export const expected = {
  pods: {
    'bad-init': 'Failed; init prepare exit 7 Error; main waiting',
    client: 'Running ready; web running',
    full: 'Running ready; init init exit 0 Completed; init sidecar running; web running; writer running',
    graceful: 'Running ready; main running',
    'once-bad': 'Failed; job exit 3 Error',
    'once-ok': 'Succeeded; job exit 0 Completed',
    onhost: 'Running ready; web running',
    retry: 'Succeeded; job exit 0 Completed, restarted 1',
    shaky: 'Running ready; main running, restarted 1',
  },
  files: {
    hosts: [
      '# Written by Podwire when the pod starts; changes by hand are lost then.',
      '127.0.0.1\tlocalhost',
      '::1\tlocalhost ip6-localhost ip6-loopback',
      'fe00::0\tip6-localnet',
      'ff00::0\tip6-mcastprefix',
      'ff02::1\tip6-allnodes',
      'ff02::2\tip6-allrouters',
      'THE ADDRESS\tsomewhere',
      '',
      '# hostAliases',
      '192.0.2.77\tfriend\tfriend.example',
    ],
    'resolv.conf': ['nameserver 192.0.2.53', 'options ndots:3', 'search shop.example example'],
    hostname: ['somewhere'],
    env: ['full shop node1 shop red hello from full'],
    ip: ['THE ADDRESS'],
    conf: ['from the config map'],
    init: ['init was here'],
  },
  logs: {
    'full/init': ['stdout prepared'],
    'full/web': ['stdout one', 'stderr two'],
    'full/writer': ['stdout writing'],
    'once-ok/job': ['stdout done'],
    'once-bad/job': ['stderr broken'],
    'retry/job': ['stdout again'],
    'shaky/main': ['stdout up'],
  },
  answers: {
    'the machine, the sidecar’s file': 'beside',
    'the machine, the hook’s file': 'started',
    'another pod': 'late',
    'the pod itself': 'late',
    'the world, a port of the host': 'late',
    'the machine, a port of 127.0.0.1': 'late',
    'the world, a pod in the host’s network': 'on the host',
    'a pod, a pod in the host’s network': 'on the host',
  },
  shaped: true,
  terminationMessages: ['hook', 'bye'],
} as const;
