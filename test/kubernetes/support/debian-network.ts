import fs from 'node:fs';
import path from 'node:path';
import { type PrivateHost, type PluginDirectories } from '@podwire/testkit';

/** A network of Debian's plugins: bridge, host-local and portmap. */
export function installDebianNetwork(host: PrivateHost): PluginDirectories & { readonly leases: string } {
  const confDir = path.join(host.directory, 'net.d');
  const leases = path.join(host.directory, 'leases');
  fs.mkdirSync(confDir);
  const ipam = {
    type: 'host-local',
    dataDir: leases,
    ranges: [[{ subnet: '10.88.0.0/24' }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const plugins = [
    { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, hairpinMode: true, ipam },
    { type: 'portmap', capabilities: { portMappings: true } },
  ];
  const network = { cniVersion: '1.0.0', name: 'debian', plugins };
  fs.writeFileSync(path.join(confDir, '10-debian.conflist'), JSON.stringify(network));
  return { binDir: '/usr/lib/cni', confDir, leases };
}
