/** The pods that are measured: a static web server, whose image is there. */
import fs from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '@podwire/platform';
import { busyboxImage } from '@podwire/testkit/containerd';

export const port = 80;

/** A manifest, as JSON, which is YAML too. */
export function webPod(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'bench' },
    spec: {
      terminationGracePeriodSeconds: 2,
      // Nothing but the pod itself: a cluster's resolver would be looked for otherwise.
      dnsPolicy: 'Default',
      containers: [
        {
          name: 'web',
          image: busyboxImage,
          imagePullPolicy: 'Never',
          command: ['/bin/busybox', 'httpd', '-f', '-p', String(port), '-h', '/'],
        },
      ],
    },
  });
}

/** Puts it there in one step, as people's tools do. */
export const placeManifest = (directory: string, name: string, text: string): void =>
  replaceFileSync(path.join(directory, `${name}.yaml`), text);

export const removeManifest = (directory: string, name: string): void =>
  fs.rmSync(path.join(directory, `${name}.yaml`));
