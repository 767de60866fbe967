/**
 * Requests and answers in the bytes of the original: its plugin and its types (kube-ovn v1.8.2) with the libraries that they
 * are built with (gorequest 0.2.15, go-restful 2.11.1, CNI 0.8.0), recorded on their socket. At the other end was a daemon of
 * our own with the original's routes and types and answers made up. It answers its own client in gzip: bodies here are
 * those without, under the heads of answers that have none. The day is another one.
 */

export const date = 'Fri, 27 Nov 2026 06:49:21 GMT';

const head = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: dummy\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: ` +
  `${Buffer.byteLength(body)}\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n${body}`;
export const addRequest = (body: string): string => head('/api/v1/add', body);
export const delRequest = (body: string): string => head('/api/v1/del', body);

/** The body of an ADD, and of a DEL. */
export const podBody =
  '{"cni_type":"kube-ovn","container_id":"532bed4f476d","deviceID":"","if_name":"eth0",' +
  '"net_ns":"/proc/10112/ns/net","pod_name":"pod","pod_namespace":"ns","provider":"ovn","routes":null,"vf_driver":""}';

/** The body of an ADD with everything that a configuration can add. */
export const fullBody =
  '{"cni_type":"kube-ovn","container_id":"532bed4f476d","deviceID":"0000:00:1f.6","if_name":"net1",' +
  '"net_ns":"/proc/10112/ns/net","pod_name":"pod","pod_namespace":"ns","provider":"a.b.ovn","routes":' +
  '[{"dst":"1.0.0.0/8","gw":"1.1.1.1"},{"dst":"2.0.0.0/8","gw":""}],"vf_driver":"vfio-pci\\u003c"}';

/** The bodies of good answers. */
export const answer4 =
  '{\n "protocol": "IPv4",\n "address": "100.100.0.3",\n "mac_address": "00:00:00:B8:58:AB",\n' +
  ' "cidr": "100.100.0.0/16",\n "gateway": "100.100.0.1",\n "mtu": 0,\n "nicname": "eth0",\n "error": ""\n}';
export const answerDual =
  '{\n "protocol": "Dual",\n "address": "10.16.0.9,fd00:10:16::9",\n "mac_address": "00:00:00:B8:58:AB",\n' +
  ' "cidr": "10.16.0.0/16,fd00:10:16::/112",\n "gateway": "10.16.0.1,fd00:10:16::1",\n "mtu": 0,\n' +
  ' "nicname": "eth0",\n "error": ""\n}';

export const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nDate: ${date}\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
export const deleted = `HTTP/1.1 204 No Content\r\nDate: ${date}\r\n\r\n`;

/** The body of an answer with an error, whose text is the inside of a JSON string. */
export const errorBody = (text: string): string =>
  '{\n "protocol": "",\n "address": "",\n "mac_address": "",\n "cidr": "",\n "gateway": "",\n "mtu": 0,\n' +
  ` "nicname": "",\n "error": "${text}"\n}`;

/** The output of the plugin. */
export const printed4 =
  '{\n    "cniVersion": "0.3.1",\n    "interfaces": [\n        {\n            "name": "eth0",\n' +
  '            "mac": "00:00:00:B8:58:AB"\n        }\n    ],\n    "ips": [\n        {\n' +
  '            "version": "4",\n            "address": "100.100.0.3/16",\n            "gateway": "100.100.0.1"\n' +
  '        }\n    ],\n    "routes": [\n        {\n            "dst": "0.0.0.0/0",\n' +
  '            "gw": "100.100.0.1"\n        }\n    ],\n    "dns": {}\n}';
export const printedDual =
  '{\n    "cniVersion": "0.4.0",\n    "interfaces": [\n        {\n            "name": "eth0",\n' +
  '            "mac": "00:00:00:B8:58:AB"\n        }\n    ],\n    "ips": [\n        {\n' +
  '            "version": "4",\n            "address": "10.16.0.9/16",\n            "gateway": "10.16.0.1"\n' +
  '        },\n        {\n            "version": "6",\n            "address": "fd00:10:16::9/112",\n' +
  '            "gateway": "fd00:10:16::1"\n        }\n    ],\n    "routes": [\n        {\n' +
  '            "dst": "0.0.0.0/0",\n            "gw": "10.16.0.1"\n        },\n        {\n' +
  '            "dst": "::/0",\n            "gw": "fd00:10:16::1"\n        }\n    ],\n    "dns": {}\n}';
/** Under 0.2.0, 0.1.0 and no version at all. */
export const printedDual020 =
  '{\n    "cniVersion": "0.2.0",\n    "ip4": {\n        "ip": "10.16.0.9/16",\n        "gateway": "10.16.0.1",\n' +
  '        "routes": [\n            {\n                "dst": "0.0.0.0/0",\n                "gw": "10.16.0.1"\n' +
  '            }\n        ]\n    },\n    "ip6": {\n        "ip": "fd00:10:16::9/112",\n' +
  '        "gateway": "fd00:10:16::1",\n        "routes": [\n            {\n                "dst": "::/0",\n' +
  '                "gw": "fd00:10:16::1"\n            }\n        ]\n    },\n    "dns": {}\n}';
