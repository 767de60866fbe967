/** A node and a pod on a kernel, fake or real, for the compliance suite of backends. */
import {
  addRouteRequest,
  createLinkRequest,
  deleteLinkRequest,
  getLinkRequest,
  decodeLink,
} from '@podwire/netlink';
import type { BackendSubject } from '@podwire/engine/compliance';
import type { NamespaceIdentity, Owned } from '@podwire/engine';
import { nodeResources, podResources } from '../src/fake/index.js';
import { createLinuxBackends, type Kernel } from '../src/index.js';

export interface SubjectOptions {
  /** Opens the kernel anew. */
  readonly open: () => Kernel;
  readonly namespace: NamespaceIdentity;
  readonly picture: () => unknown;
}

export function createSubject({ open, namespace, picture }: SubjectOptions): BackendSubject {
  const withKernel = (work: (kernel: Kernel) => void): void => {
    const kernel = open();
    try {
      work(kernel);
    } finally {
      kernel.close();
    }
  };
  const owned: Owned = { owner: 'endpoint:1', namespace, resources: podResources(1) };
  return {
    base: { owner: 'node', resources: nodeResources },
    owned,
    backends: () => createLinuxBackends(open()),
    picture,
    // Another program's element in the place of ours; all but it can be made.
    break() {
      const port = owned.resources.find((resource) => resource.kind === 'nft-element')!;
      const { family, table, set, key } = port;
      const value = [
        { type: 'ipv4_addr', value: '192.0.2.9' },
        { type: 'inet_service', value: 9 },
      ] as const;
      withKernel(({ nftables }) => nftables.change([{ op: 'add', family, table, set, key, value }]));
      return () =>
        withKernel(({ nftables }) => nftables.change([{ op: 'destroy', family, table, set, key }]));
    },
    damage: () => withKernel(({ host }) => void host.route.request([deleteLinkRequest('pwshape1')])),
    addForeign: () =>
      withKernel(({ host: { route } }) => {
        route.request([createLinkRequest({ kind: 'ifb', name: 'foreign', up: true })]);
        const link = decodeLink(route.request([getLinkRequest('foreign')]).flat()[0]!).index;
        route.request([addRouteRequest({ destination: '10.77.0.1/32', link, scope: 'link' })]);
      }),
    absentKinds: ['vxlan', 'forwarding-entry', 'link-ready', 'forward-accept'],
    close: () => undefined,
  };
}
