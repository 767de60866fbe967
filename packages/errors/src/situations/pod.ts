/** Situations of the pod agent: pods, their containers, images and volumes. */
import type { Situations } from './situation.js';

export const podSituations = {
  PODLET_UNREACHABLE: [
    {
      site: 'packages/local-api/src/client.ts',
      message: 'no ‹pod agent› answers at ‹/run/podwire/podlet.sock›‹: ›there is no such socket',
    },
    {
      site: 'packages/cli/src/pods/processes.ts',
      message: 'the ‹pod agent› did not start: ‹it ended with 1›',
      action: '‹/run/podwire/podlet.log› has more.',
    },
    {
      site: 'packages/cli/src/pods/teardown.ts',
      message:
        '‹no pod agent answers at /run/podwire/podlet.sock: there is no such socket›‹; ›pods may still run, so the node agent is not ended',
      action: 'Start the pod agent again with `podwire up FILE`, then take the pods down.',
    },
  ],
  POD_UNKNOWN: [
    { site: 'packages/cli/src/pods/names.ts', message: 'there is no pod ‹shop/web›' },
    {
      site: 'packages/podlet/src/server/routes.ts',
      message: 'pod ‹default/web› has no container ‹wbe›; it has ‹web, log›',
      action: null,
    },
    {
      site: 'packages/cli/src/packet/names.ts',
      message: '‹the store› has no pod ‹shop/web›',
      action: 'Give its namespace with it, as NAMESPACE/NAME; or its IPv4 address in place of its name.',
    },
    {
      site: 'packages/testbed/src/testbed.ts',
      message: 'there is no pod ‹default/pod9›‹ on node1›',
      action: '`podwire testbed status` lists them.',
    },
  ],
  POD_NOT_RUNNING: [
    {
      site: 'packages/podlet/src/server/routes.ts',
      message: 'pod ‹default/web›‹: ›container ‹web› does not run',
    },
  ],
  NETWORK_NOT_READY: [
    { site: 'packages/pod-network/src/watched.ts', message: 'there is no network' },
    {
      site: 'packages/pod-network/src/pod-network.ts',
      message: 'the pod network is closed',
    },
  ],
  NETWORK_ATTACH_FAILED: [
    {
      site: 'packages/pod-network/src/lifecycle/set-up.ts',
      message: 'pod ‹default/web› could not be attached: ‹podwire-cni: POOL_EXHAUSTED: no free IPv4 address›',
    },
  ],
  NETWORK_DETACH_FAILED: [
    {
      site: 'packages/pod-network/src/lifecycle/detach.ts',
      message: 'network ‹podwire› could not detach ‹default/web›: ‹bandwidth: exit status 1›',
    },
    {
      site: 'packages/pod-network/src/lifecycle/collect-garbage.ts',
      message: 'garbage collection did not finish: ‹bandwidth: exit status 1›',
    },
  ],
  VOLUME_UNAVAILABLE: [
    {
      site: 'packages/podlet/src/files/volumes.ts',
      message: 'pod ‹default/web›, ‹volume data›: ‹hostPath /srv/data does not exist›',
    },
    {
      site: 'packages/podlet/src/files/discard.ts',
      message: 'pod ‹5b0e…› could not be cleared away: ‹EBUSY: /var/lib/podwire/pods/5b0e…/volumes/data›',
      action: 'None at first: it is tried again by itself.',
    },
  ],
  CONTAINER_CONFIG_INVALID: [
    {
      site: 'packages/podlet/src/runtime-config/environment.ts',
      message: 'pod ‹default/web›, container ‹web›‹: ›env ‹MODE›: ConfigMap ‹settings› ‹does not exist›',
      action: 'Add it to a manifest; the container starts by itself then.',
    },
    {
      site: 'packages/podlet/src/runtime-config/security.ts',
      message: 'pod ‹default/web›, container ‹web›: runAsNonRoot, but ‹the image runs as root›',
    },
  ],
  IMAGE_UNAVAILABLE: [
    {
      site: 'packages/podlet/src/images/ensure-image.ts',
      message: '‹image web:1 of container web: is not present, and imagePullPolicy is Never›',
    },
  ],
} as const satisfies Readonly<Record<string, Situations>>;
