/** The tables of the bridge, with the numbers that they have since OpenShift 4.10 (rule version 13). */

const rows = {
  dispatch: [0, 'tracks connections, and sorts packets by the port that they come from'],
  fromPeer: [10, 'lets in what comes through tunnels of known nodes'],
  fromPod: [20, 'drops what is not from the address of the pod, and sets the project of the rest'],
  fromProxy: [25, 'sets the project of packets that the service proxy of the node has sent to a pod'],
  egressRules: [27, 'egress rules of network policies'],
  commit: [30, 'commits connections, where policies look at them'],
  route: [31, 'chooses the way by destination'],
  arpToPod: [40, 'ARP to pods of this node'],
  arpToPeer: [50, 'ARP to other nodes, through the tunnel'],
  toService: [60, 'packets to services, which go to the service proxy of the node'],
  toPod: [70, 'sets project and port of the pod of this node that a packet is for'],
  ingressRules: [80, 'keeps projects apart, and ingress rules of network policies'],
  toPeer: [90, 'packets to pods of other nodes, through the tunnel'],
  nodeDns: [99, 'lets DNS questions to this node pass, whatever the egress policy says'],
  egressPolicy: [100, 'egress policies of projects, for what leaves the cluster'],
  egress: [101, 'sends out of the cluster what may leave it'],
  multicastFromPod: [110, 'lets multicast pass for projects that have it'],
  multicastToPeers: [111, 'copies multicast to all other nodes'],
  multicastToPods: [120, 'copies multicast to the pods of the project on this node'],
  version: [253, 'holds the version of these flows; no packet comes here'],
} as const;

export type TableName = keyof typeof rows;

/** Numbers of tables by name. */
export const tables = Object.fromEntries(Object.entries(rows).map(([name, [number]]) => [name, number])) as {
  readonly [Name in TableName]: (typeof rows)[Name][0];
};

const purposes = new Map<number, string>(Object.values(rows));

/** The purpose of a table, as a part of a sentence; undefined for a number that the bridge does not use. */
export const describeTable = (table: number): string | undefined => purposes.get(table);
