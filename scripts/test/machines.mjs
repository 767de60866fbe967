/** Files of Podwire on the machines of `new-machine.mjs`, below the root of each. */
import fs from 'node:fs';
import path from 'node:path';

const remove = (machine, ...names) =>
  names.forEach((name) => fs.rmSync(path.join(machine, name), { recursive: true, force: true }));

/** A folder that only root may read. */
function makePrivate(machine, name) {
  fs.mkdirSync(path.join(machine, name), { recursive: true });
  fs.chmodSync(path.join(machine, name), 0o700);
}

function makeNew(machine) {
  remove(machine, 'etc/podwire', 'etc/cni', 'etc/hostname', 'var/lib/podwire', 'var/lib/cni');
}

/** As agents, a testbed, Debian's CNI plugins and `ip netns` leave a machine. */
function makeUsed(machine) {
  makeNew(machine);
  for (const name of ['run/podwire', 'run/podwire-testbed/testbed', 'run/podwire-testbed', 'var/lib/podwire'])
    makePrivate(machine, name);
  for (const name of ['run/netns', 'etc/podwire', 'etc/cni/net.d', 'var/lib/cni/networks'])
    fs.mkdirSync(path.join(machine, name), { recursive: true });
  fs.writeFileSync(path.join(machine, 'run/netns/pod'), '');
  fs.writeFileSync(path.join(machine, 'etc/podwire/agent.yaml'), 'not: the default\n', { mode: 0o600 });
}

export const machines = { new: makeNew, used: makeUsed };
