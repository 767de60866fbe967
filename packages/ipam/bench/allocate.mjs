// How many allocations a second, in several states of the pools. Prints figures, checks nothing.
//   npm run bench -w @podwire/ipam
import { createIpam } from '@podwire/ipam';

const wide4 = { name: 'v4', cidr: '10.0.0.0/8', blockSize: 26 };
const wide6 = { name: 'v6', cidr: 'fd00:244::/48', blockSize: 122 };
const pod = (n) => `podwire,0f3c9a6b2d1e4785${n},eth0`;

function measure(title, count, prepare) {
  const rates = [];
  for (let round = 0; round < 5; round++) {
    const step = prepare();
    const start = performance.now();
    for (let i = 0; i < count; i++) step(i);
    rates.push((count * 1000) / (performance.now() - start));
  }
  const median = Math.round(rates.sort((a, b) => a - b)[2]);
  console.log(`${title.padEnd(64)} ${median.toLocaleString('en').padStart(12)} /s`);
}

function create(pools, coolDown = 0) {
  let now = 0;
  return createIpam({ pools, coolDown, clock: () => now++ });
}

function filled(pools, count, coolDown) {
  const ipam = create(pools, coolDown);
  for (let i = 0; i < count; i++) ipam.allocate({ owner: pod(i) });
  return ipam;
}

measure('fresh addresses, IPv4, new blocks included', 50_000, () => {
  const ipam = create([wide4]);
  return (i) => ipam.allocate({ owner: pod(i) });
});
measure('fresh addresses, IPv4 + IPv6, new blocks included', 50_000, () => {
  const ipam = create([wide4, wide6]);
  return (i) => ipam.allocate({ owner: pod(i) });
});
measure('release + allocate, IPv4 + IPv6, 1,000 pods', 100_000, () => {
  const ipam = filled([wide4, wide6], 1000, 0);
  return (i) => {
    ipam.release(pod(i % 1000));
    ipam.allocate({ owner: pod(i % 1000) });
  };
});
measure('release + allocate, IPv4, 1,024 blocks that are all but full', 100_000, () => {
  const ipam = filled([{ ...wide4, cidr: '10.0.0.0/16' }], 65_000, 100);
  return (i) => {
    const owner = pod((i * 7919) % 65_000);
    ipam.release(owner);
    ipam.allocate({ owner });
  };
});
measure('requested address + release, IPv4, 1,024 blocks', 100_000, () => {
  const ipam = create([{ ...wide4, cidr: '10.0.0.0/16' }]);
  return (i) => {
    const n = 1 + ((i * 7919) % 65_000);
    ipam.allocate({ owner: 'x', requested: [`10.0.${n >> 8}.${n & 255}`] });
    ipam.release('x');
  };
});
