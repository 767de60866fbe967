import { addFlow, connectSwitch, parseFlow, type Port } from '@podwire/openflow';
import { FakeSwitch, type PacketFields } from '@podwire/openflow/fake';

const portOf = (port: number) => ({
  port,
  name: `p${port}`,
  mac: `02:00:00:00:00:0${port}`,
  isDown: false,
  hasLink: true,
});

/** Only what port 1 begins is let through. */
const flows = [
  'table=0,ip,actions=ct(table=1,zone=5)',
  'table=1,ip,ct_state=+trk+new,in_port=1,actions=ct(commit,zone=5),2',
  'table=1,ct_state=+trk+est,in_port=2,actions=1',
];
const udp = { eth_type: 0x0800, ip_proto: 17 };
const question: PacketFields = {
  in_port: 1,
  ...udp,
  ip_src: '10.0.0.1',
  udp_src: 4000,
  ip_dst: '10.0.0.9',
  udp_dst: 53,
};
const answer: PacketFields = {
  in_port: 2,
  ...udp,
  ip_src: '10.0.0.9',
  udp_src: 53,
  ip_dst: '10.0.0.1',
  udp_dst: 4000,
};

/** Sends packets through the flows: [[], [2], [1]]. */
export async function tryFlows(): Promise<readonly Port[][]> {
  const fake = new FakeSwitch({ ports: [portOf(1), portOf(2)] });
  const bridge = await connectSwitch(fake.connect());
  await bridge.applyBundle(flows.map((flow) => addFlow(parseFlow(flow))));
  const packets = [answer, question, answer];
  return packets.map((packet) => fake.evaluate(packet).outputs.map(({ port }) => port));
}
