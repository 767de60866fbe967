/** Common parts of the tests of kube-ovn: its calls and its outputs. */
import { failed } from './fake-node.js';

const variables = {
  CNI_CONTAINERID: '532bed4f476d',
  CNI_NETNS: '/proc/10112/ns/net',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;K8S_POD_INFRA_CONTAINER_ID=x',
};
export const ADD = { CNI_COMMAND: 'ADD', ...variables };
export const DEL = { CNI_COMMAND: 'DEL', ...variables };

/** The configuration of the plugin, in which the runtime has put name and version. */
export const networkConfig = (socket: string, changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    cniVersion: '0.3.1',
    name: 'kube-ovn',
    type: 'kube-ovn',
    server_socket: socket,
    ...changes,
  });

/** The body of the request for such a call. */
export const bodyOf = (changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    ...{ cni_type: 'kube-ovn', container_id: '532bed4f476d', deviceID: '', if_name: 'eth0' },
    ...{ net_ns: '/proc/10112/ns/net', pod_name: 'pod', pod_namespace: 'ns', provider: 'ovn', routes: null },
    ...{ vf_driver: '', ...changes },
  });

/** The output of an error of Kube-OVN itself. */
export const failedHere = (msg: string): string => failed(msg, 999);

const answer4 = {
  ...{ protocol: 'IPv4', address: '100.100.0.3', mac_address: '00:00:00:B8:58:AB', cidr: '100.100.0.0/16' },
  ...{ gateway: '100.100.0.1', mtu: 0, nicname: 'eth0', error: '' },
};
/** The body of an answer with other values for some keys. */
export const answerOf = (changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ...answer4, ...changes }, null, 1);

/** The output for `answerOf()`. */
export const printedOf = (cniVersion: string): string =>
  JSON.stringify(
    {
      cniVersion,
      interfaces: [{ name: 'eth0', mac: '00:00:00:B8:58:AB' }],
      ips: [{ version: '4', address: '100.100.0.3/16', gateway: '100.100.0.1' }],
      routes: [{ dst: '0.0.0.0/0', gw: '100.100.0.1' }],
      dns: {},
    },
    null,
    4,
  );
