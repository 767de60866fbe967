/** Manifests whose commands mean the same with the host's files (embedded) and with the test image (engines). */
import { busyboxImage } from '@podwire/testkit/containerd';

export type Fields = Readonly<Record<string, unknown>>;

/** A container with the statically linked busybox, which lies in the same place everywhere. */
export function container(name: string, script: string, more: Fields = {}): Fields {
  return {
    name,
    image: busyboxImage,
    imagePullPolicy: 'Never',
    command: ['/bin/busybox', 'sh', '-c', script],
    ...more,
  };
}

/** Goes on until SIGTERM, and then ends at once: the first process of a namespace has to say so itself. */
export const lingering = `trap 'exit 0' TERM; /bin/busybox sleep 100000 & wait`;

/** Answers every HTTP request with this text, on port 80. */
export const serving = (text: string, port = 80): string =>
  `mkdir -p /tmp/www; echo '${text}' > /tmp/www/index.html; /bin/busybox httpd -p ${port} -h /tmp/www; ${lingering}`;

export function pod(
  name: string,
  containers: readonly Fields[],
  spec: Fields = {},
  metadata: Fields = {},
): Fields {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...metadata },
    spec: { terminationGracePeriodSeconds: 1, dnsPolicy: 'Default', containers, ...spec },
  };
}

/** A pod that says its name on port 80 and is ready when it does. */
export function webPod(name: string, spec: Fields = {}, metadata: Fields = {}): Fields {
  const readinessProbe = { httpGet: { path: '/', port: 80 }, periodSeconds: 1 };
  return pod(name, [container('web', serving(name), { readinessProbe })], spec, metadata);
}
