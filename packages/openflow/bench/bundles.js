/**
 * Flows in atomic bundles: through this library, and by `ovs-ofctl --bundle add-flows`, which is started for each. They
 * take turns on one private ovs-vswitchd with a datapath in its process; a bundle deletes all flows and adds its own.
 * `encode` is the library's part without a switch, `dump` reads them back with statistics.
 *
 * node packages/openflow/bench/bundles.js [FLOWS] [ROUNDS]
 */
import { addFlow, deleteFlows, encodeMessage, formatFlow, openSwitch } from '@podwire/openflow';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';

const count = Number(process.argv[2] ?? 20_000);
const rounds = Number(process.argv[3] ?? 5);

/** Flows as those of a pod network: addresses, registers, connection tracking, and a way on. */
const flowOf = (index) => ({
  ...{ table: 10, priority: 100, cookie: '0x1' },
  match: {
    eth_type: 0x0800,
    reg0: index % 64,
    ip_dst: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  },
  actions: [
    { type: 'load', value: (index % 9) + 1, to: { field: 'reg2' } },
    { type: 'set_field', field: 'eth_dst', value: '0a:58:0a:01:00:02' },
    { type: 'resubmit', table: 20 },
  ],
});

const flows = [...Array(count).keys()].map(flowOf);
const changes = [deleteFlows(), ...flows.map(addFlow)];
const text = ['delete', ...flows.map((flow) => `add ${formatFlow(flow)}`)].join('\n');

const real = await OpenVSwitch.startWithBridge();
const bridge = await openSwitch(real.socketOf('br0'));
const samples = { library: [], 'ovs-ofctl': [], encode: [], dump: [] };

async function measure(name, work) {
  const start = performance.now();
  await work();
  samples[name].push(performance.now() - start);
}

try {
  for (let round = 0; round <= rounds; round++) {
    await measure('library', () => bridge.applyBundle(changes, { timeout: 60_000 }));
    await measure('dump', () => bridge.dump('flow', {}, { timeout: 60_000 }));
    await measure('ovs-ofctl', () => real.ofctl(['--bundle', 'add-flows', 'BRIDGE', '-'], text));
    await measure('encode', () => {
      for (const message of changes) encodeMessage({ xid: 1, message });
    });
    // The first round makes the code and the tables warm.
    if (round === 0) for (const name of Object.keys(samples)) samples[name] = [];
  }
} finally {
  bridge.close();
  await real.close();
}

for (const [name, times] of Object.entries(samples)) {
  const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  console.log(
    `${name.padEnd(10)} ${median.toFixed(0).padStart(6)} ms  ${Math.round((1000 * count) / median)} flows/s`,
  );
}
