/** Places of OpenShift SDN's plugin for a machine of a test: below its directory, and where the plugin looks for them. */
import fs from 'node:fs';
import path from 'node:path';
import { defaultAgentEntry, type PrivateHost } from '@podwire/testkit';

/** The part of the agent's configuration. */
export const openshiftCniOf = ({ directory }: Pick<PrivateHost, 'directory'>) => ({
  directory: path.join(directory, 'cniserver'),
  networkConfigDir: path.join(directory, 'net.d'),
});

/** Starts the plugin that is shipped where the machine's places are the default ones: in a mount namespace of its own. */
const script = (directory: string): string => `#!/bin/sh
exec unshare --mount sh -c '
  set -e
  mount -t tmpfs run /run
  mkdir -p /run/openshift-sdn/cniserver
  mount --bind ${directory} /run/openshift-sdn/cniserver
  exec ${path.join(path.dirname(defaultAgentEntry[0]!), 'openshift-sdn')}'
`;

/** @returns the plugin, in a folder for plugins */
export function putPluginAtItsPlace(host: PrivateHost, folder: string): string {
  const file = path.join(folder, 'openshift-sdn');
  fs.writeFileSync(file, script(openshiftCniOf(host).directory), { mode: 0o755 });
  return file;
}
