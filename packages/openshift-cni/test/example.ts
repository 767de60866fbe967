import { peerCredentials } from '@podwire/linux';
import { type OpenshiftCniServer, startOpenshiftCniServer } from '@podwire/openshift-cni';
import { silentLog, systemClock } from '@podwire/platform';

/** Gives each pod the same address. */
export async function serve(directory: string): Promise<OpenshiftCniServer> {
  const server = await startOpenshiftCniServer({
    directory, // runDirectory, on a node
    hostVeth: 'required',
    async handle({ command }, { answer }) {
      if (command === 'DEL') return answer();
      const ips = [{ address: '10.128.0.5/23', gateway: '10.128.0.1' }];
      await answer({ cniVersion: '1.1.0', ips }); // throws when the plugin is gone: undo what was done
    },
    deadline: 60_000,
    maxConnections: 100,
    ...{ peerCredentials, clock: systemClock, log: silentLog },
  });
  server.publish({ mtu: 1450, serviceNetworkCidr: '172.30.0.0/16' }); // plugins ask from here on
  return server;
}
