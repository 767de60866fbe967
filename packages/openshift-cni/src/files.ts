/** Names and contents of the files of OpenShift SDN that its CNI plugin and container runtimes read. */
import { compact } from '@podwire/platform';

/** The directory of the socket and of config.json. It is private: mode 0700. */
export const runDirectory = '/var/run/openshift-sdn/cniserver';
export const socketName = 'socket';
export const configName = 'config.json';
/** Of config.json. */
export const configMode = 0o444;

/**
 * Facts of the node for the plugin. Releases of OpenShift SDN read different fields, and ignore those that they do
 * not know: up to 4.9 `serviceNetworkCIDR`, from 4.10 on `routableMTU` and `platformType`.
 */
export interface NodeConfig {
  /** Bytes; of the links of pods. */
  readonly mtu: number;
  /** `172.30.0.0/16` */
  readonly serviceNetworkCidr?: string;
  /** Bytes; of routes of pods while the MTU of a cluster is changed. */
  readonly routableMtu?: number;
  /** `AlibabaCloud`: the plugin closes another address of cloud metadata there. */
  readonly platformType?: string;
}

/** The bytes of config.json, as Go's encoder writes them: no space, no line end. */
export function renderNodeConfig({ mtu, serviceNetworkCidr, routableMtu, platformType }: NodeConfig): string {
  return JSON.stringify(
    compact({ mtu, serviceNetworkCIDR: serviceNetworkCidr, routableMTU: routableMtu, platformType }),
  );
}

/** The name of the network configuration in `/etc/cni/net.d`. It is written last: runtimes take it for "ready". */
export const networkConfigName = '80-openshift-network.conf';
/** Of the network configuration. */
export const networkConfigMode = 0o644;

/** The bytes of the network configuration, with the empty line that the original begins with. */
export function renderNetworkConfig(cniVersion: '0.2.0' | '0.3.1'): string {
  const config = { cniVersion, name: 'openshift-sdn', type: 'openshift-sdn' };
  return `\n${JSON.stringify(config, null, 2)}\n`;
}
