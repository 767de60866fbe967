import { connectSwitch, type OpenOptions, type SwitchConnection } from '@podwire/openflow';
import { FakeSwitch } from '@podwire/openflow/fake';

const ports = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((port) => ({
  ...{ port, name: `p${port}`, mac: `02:00:00:00:00:0${port}`, isDown: false, hasLink: true },
}));

export const createFakeBridge = (): FakeSwitch => new FakeSwitch({ ports });

export const connectTo = (bridge: FakeSwitch, options: OpenOptions = {}): Promise<SwitchConnection> =>
  connectSwitch(bridge.connect(), options);
