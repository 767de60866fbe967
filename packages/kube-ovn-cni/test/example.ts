import { PodwireError } from '@podwire/errors';
import {
  type CniRequest,
  type CniResponse,
  type KubeOvnCniServer,
  serveKubeOvnCni,
  toCniResponse,
} from '@podwire/kube-ovn-cni';
import { peerCredentials } from '@podwire/linux';
import { silentLog, systemClock } from '@podwire/platform';

/** Gives each pod the same address. */
function attach({ ifName, netNs, provider }: CniRequest): CniResponse {
  if (provider !== 'ovn')
    throw new PodwireError('REQUEST_INVALID', `provider ${provider} not bind to any subnet`);
  const interfaces = [{ name: ifName, mac: '00:00:00:B8:58:AB', mtu: 1400, sandbox: netNs }];
  const ips = [{ address: '10.16.0.9/16', gateway: '10.16.0.1', interface: 0 }];
  return toCniResponse({ cniVersion: '1.1.0', interfaces, ips });
}

export function serve(socketPath: string): Promise<KubeOvnCniServer> {
  return serveKubeOvnCni({
    socketPath, // defaultSocket, on a node
    handlers: {
      add: (request) => Promise.resolve(request).then(attach),
      del: () => Promise.resolve(), // a pod that is not there is detached
    },
    deadline: 60_000,
    maxConnections: 100,
    ...{ peerCredentials, clock: systemClock, log: silentLog },
  });
}
