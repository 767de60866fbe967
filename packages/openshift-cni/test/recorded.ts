/**
 * Requests and answers of the original: openshift/sdn at commit f314e1a1b (September 2021), its plugin and its server, built
 * with Go 1.19 and recorded on their socket. The day is another one.
 */

export const networkConfig = '{"cniVersion":"0.2.0","name":"openshift-sdn","type":"openshift-sdn"}';

/** The environment of the plugin when this was recorded, in the order of its names. */
export const environment = {
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod',
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'abc',
  CNI_IFNAME: 'eth0',
  CNI_NETNS: '/run/netns/pod',
  CNI_PATH: '/opt/cni/bin',
};

/** The body of an ADD. `ODD` and `PATH` are in it, since the original sends its whole environment. */
export const addBody =
  '{"env":{"CNI_ARGS":"IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod","CNI_COMMAND":"ADD",' +
  '"CNI_CONTAINERID":"abc","CNI_IFNAME":"eth0","CNI_NETNS":"/run/netns/pod","CNI_PATH":"/opt/cni/bin",' +
  '"ODD":"\\u003ca\\u0026b\\u003eé\\"\\\\","PATH":"/usr/sbin:/usr/bin:/sbin:/bin"},' +
  '"config":"eyJjbmlWZXJzaW9uIjoiMC4yLjAiLCJuYW1lIjoib3BlbnNoaWZ0LXNkbiIsInR5cGUiOiJvcGVuc2hpZnQtc2RuIn0=",' +
  '"hostVeth":"veth289b6650"}';

/** The answer to an ADD of a release with configurations of 0.2.0, and of 0.3.1. */
export const result020 =
  '{"cniVersion":"0.2.0","ip4":{"ip":"10.128.0.5/23","gateway":"10.128.0.1","routes":' +
  '[{"dst":"0.0.0.0/0","gw":"10.128.0.1"},{"dst":"224.0.0.0/4"},{"dst":"10.128.0.0/14"}]},"dns":{}}';
export const result031 =
  '{"cniVersion":"0.3.1","ips":[{"version":"4","address":"10.128.0.5/23","gateway":"10.128.0.1"}],"routes":' +
  '[{"dst":"0.0.0.0/0","gw":"10.128.0.1"},{"dst":"224.0.0.0/4"},{"dst":"10.128.0.0/14"}],"dns":{}}';

export const configJson = '{"mtu":1450,"serviceNetworkCIDR":"172.30.0.0/16"}';

export const date = 'Fri, 27 Nov 2026 06:49:21 GMT';

/** A whole answer with status 200. */
export const good = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: ${date}\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;

/** A whole answer with an error. */
export const bad = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n` +
  `Date: ${date}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;

export const methodNotAllowed =
  `HTTP/1.1 405 Method Not Allowed\r\nDate: ${date}\r\n` + 'Content-Length: 0\r\nConnection: close\r\n\r\n';

/** Refusals, by how the request differs from `environment` and a `hostVeth`. */
export const refusals: readonly {
  readonly without?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly text: string;
}[] = [
  { without: 'CNI_COMMAND', text: 'unexpected or missing CNI_COMMAND' },
  { with: { CNI_COMMAND: '' }, text: 'unhandled CNI request ' },
  { with: { CNI_COMMAND: 'CHECK' }, text: 'unhandled CNI request CHECK' },
  { without: 'CNI_CONTAINERID', text: 'missing CNI_CONTAINERID' },
  { without: 'CNI_NETNS', text: 'missing CNI_NETNS' },
  { without: 'hostVeth', text: 'missing HostVeth' },
  {
    without: 'CNI_ARGS',
    text:
      "missing CNI_ARGS: 'map[CNI_COMMAND:ADD CNI_CONTAINERID:abc CNI_IFNAME:eth0 CNI_NETNS:/run/netns/pod " +
      "CNI_PATH:/opt/cni/bin]'",
  },
  { with: { CNI_ARGS: '' }, text: "invalid CNI_ARG ''" },
  { with: { CNI_ARGS: 'A=B;C' }, text: "invalid CNI_ARG 'C'" },
  { with: { CNI_ARGS: 'A=B=C' }, text: "invalid CNI_ARG 'A=B=C'" },
  { with: { CNI_ARGS: 'K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;' }, text: "invalid CNI_ARG ''" },
  { with: { CNI_ARGS: 'K8S_POD_NAME=pod' }, text: 'missing K8S_POD_NAMESPACE' },
  { with: { CNI_ARGS: 'K8S_POD_NAMESPACE=ns' }, text: 'missing K8S_POD_NAME' },
];
