/** Debian's bridge, host-local, portmap and bandwidth as the pods' network, on a host of its own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { PodAttachment, RunningPodNetwork } from '@podwire/pod-network';
import { reaches, serveEcho, type TestNamespace } from '@podwire/testkit';
import { complianceCases } from './support/compliance.js';
import { bridgeOf, createPodHost, listOf, type PodHost } from './support/host.js';

let on: PodHost;
let network: RunningPodNetwork;

const isUp = async (pod: TestNamespace): Promise<boolean> => {
  const [row] = JSON.parse(await pod.run(['ip', '-j', 'addr', 'show', 'dev', 'lo'])) as {
    flags: string[];
    addr_info: { local: string }[];
  }[];
  return row?.flags.includes('UP') === true && row.addr_info.some(({ local }) => local === '127.0.0.1');
};
const hasEth0 = (pod: TestNamespace): Promise<boolean> =>
  pod.run(['ip', 'link', 'show', 'dev', 'eth0']).then(
    () => true,
    () => false,
  );
/** All that a pod may have left on the host. */
async function assertNothingLeft(name = 'pods'): Promise<void> {
  assert.deepEqual(on.leases(name), []);
  assert.deepEqual(await on.links(), []);
  assert.deepEqual([on.cached(), on.records()], [[], []]);
}

const portmap = { type: 'portmap', capabilities: { portMappings: true }, snat: true };
const fuse = { type: 'fuse' };

describe('bridge, portmap', () => {
  before(async () => {
    on = await createPodHost('deb');
    on.write('10-pods.conflist', listOf('pods', [bridgeOf(on, '10.61.0.0/24'), portmap, fuse]));
    network = await on.start();
  });
  after(() => on.close());

  test('pods reach each other, and one its host port', async () => {
    const web = on.makePod('web', {
      portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
    });
    const client = on.makePod('client');
    const [{ addresses }] = [await network.setUp(web), await network.setUp(client)];
    const [address = ''] = addresses;
    assert.match(address, /^10\.61\.0\.\d+$/);
    assert.deepEqual(await network.addresses(web.sandboxId), addresses);
    assert.ok(await isUp(web.at));
    const server = await serveEcho(web.at, 'tcp', address, 80);
    assert.ok(await reaches(client.at, 'tcp', address, 80));
    assert.ok(await reaches(client.at, 'tcp', '10.61.0.1', 8080));
    await server.close();
    assert.match(await on.host.run(['iptables', '-w', '-t', 'nat', '-S']), /--dport 8080/);
    for (const pod of [web, client]) await network.tearDown(pod);
    assert.doesNotMatch(await on.host.run(['iptables', '-w', '-t', 'nat', '-S']), /--dport 8080/);
    assert.equal(await hasEth0(web.at), false);
    await assertNothingLeft();
  });

  test('a plugin that fails second in the chain leaves neither address nor link', async () => {
    const pod = on.makePod('unlucky');
    on.blow('ADD');
    await assert.rejects(network.setUp(pod), {
      code: 'NETWORK_ATTACH_FAILED',
      message:
        'pod shop/unlucky could not be attached: plugin fuse failed to ADD: as asked for (stderr: the fuse has blown)',
    });
    assert.equal(await hasEth0(pod.at), false);
    await assertNothingLeft();
  });

  test('a DEL that fails is repeated, and everything is there for it', async () => {
    const pod = on.makePod('sticky');
    await network.setUp(pod);
    on.blow('DEL');
    await assert.rejects(network.tearDown(pod), { code: 'NETWORK_DETACH_FAILED', message: /as asked for/ });
    assert.equal(on.leases('pods').length, 1);
    await network.tearDown(pod);
    await assertNothingLeft();
  });

  test('the configuration directory is gone: the pod is taken off nevertheless', async () => {
    const pod = on.makePod('orphan');
    await network.setUp(pod);
    const away = `${on.config}.away`;
    fs.renameSync(on.config, away);
    await network.tearDown(pod);
    await assertNothingLeft();
    assert.deepEqual((await network.explain()).network?.kept, true);
    fs.renameSync(away, on.config);
  });

  test('another configuration is moved over it: new pods get the new network, old ones leave the old', async () => {
    const old = on.makePod('old');
    await network.setUp(old);
    const file = path.join(on.config, '10-pods.conflist');
    const before = fs.readFileSync(file);
    on.write('.next', listOf('next', [bridgeOf(on, '10.62.0.0/24', 'cni1'), fuse]));
    fs.renameSync(path.join(on.config, '.next'), file);
    await network.explain();
    const fresh = on.makePod('fresh');
    const { addresses, network: name } = await network.setUp(fresh);
    assert.equal(name, 'next');
    assert.match(addresses[0] ?? '', /^10\.62\./);
    await network.tearDown(old);
    assert.deepEqual(on.leases('pods'), []);
    await network.tearDown(fresh);
    await assertNothingLeft('next');
    fs.writeFileSync(file, before);
    await network.explain();
  });

  test('the namespace is gone before tearDown', async () => {
    const pod = on.makePod('dead');
    await network.setUp(pod);
    on.host.removePod(pod.at);
    await network.tearDown(pod);
    await on.untilLinksGone();
    await assertNothingLeft();
  });

  test('after a reboot all addresses are free again', async () => {
    const pods = ['r1', 'r2', 'r3'].map((id) => on.makePod(id));
    for (const pod of pods) await network.setUp(pod);
    assert.equal(on.leases('pods').length, 3);
    await network.close();
    for (const pod of pods) on.host.removePod(pod.at);
    on.reboot();
    network = await on.start();
    assert.deepEqual(on.leases('pods'), []);
    await on.untilLinksGone();
    assert.deepEqual([on.cached(), on.records()], [[], []]);
  });

  test('twenty tearDowns at once: each plugin sees one DEL', async () => {
    on.script('fuse', 'echo $CNI_COMMAND >>$LOG');
    const pod = on.makePod('twenty');
    await network.setUp(pod);
    await Promise.all(Array.from({ length: 20 }, () => network.tearDown(pod)));
    assert.deepEqual(on.log(), ['ADD', 'DEL']);
    await assertNothingLeft();
    on.script('fuse', '');
  });

  test('sandboxes of one pod one after the other, other pods beside them', async () => {
    const meeting = path.join(on.host.directory, 'meeting');
    fs.mkdirSync(meeting);
    // Pods a and b wait for each other; the two sandboxes of pod c only say when they come and go.
    on.script(
      'fuse',
      `[ $CNI_COMMAND = ADD ] || exit 0
touch ${meeting}/\${CNI_CONTAINERID##*-}
case $CNI_CONTAINERID in
*-a) OTHER=b ;;
*-b) OTHER=a ;;
*) echo "begin $CNI_CONTAINERID" >>$LOG; sleep 0.1; echo "end $CNI_CONTAINERID" >>$LOG ;;
esac
while [ -n "$OTHER" ] && [ ! -e ${meeting}/$OTHER ]; do sleep 0.02; done`,
    );
    const pods = [
      on.makePod('a'),
      on.makePod('b'),
      on.makePod('c1', { name: 'c' }),
      on.makePod('c2', { name: 'c' }),
    ];
    const earlier = on.log().length;
    await Promise.all(pods.map((pod) => network.setUp(pod)));
    const said = on.log().slice(earlier);
    assert.deepEqual(
      said.map((line) => line.split(' ')[0]),
      ['begin', 'end', 'begin', 'end'],
    );
    await Promise.all(pods.map((pod) => network.tearDown(pod)));
    await assertNothingLeft();
    on.script('fuse', '');
  });

  test('loopback by the plugin', async () => {
    await network.close();
    network = await on.start({ loopback: 'plugin' });
    const pod = on.makePod('lo');
    await network.setUp(pod);
    assert.ok(await isUp(pod.at));
    assert.equal(on.cached().length, 2);
    await network.tearDown(pod);
    await assertNothingLeft();
    await network.close();
    network = await on.start();
  });

  test('twenty pods at once', async () => {
    const pods = Array.from({ length: 20 }, (_, index) => on.makePod(`many${index}`));
    const made = await Promise.all(pods.map((pod) => network.setUp(pod)));
    assert.equal(new Set(made.flatMap(({ addresses }) => addresses)).size, 20);
    await Promise.all(pods.map((pod) => network.tearDown(pod)));
    await assertNothingLeft();
  });
});

test('Debian’s bandwidth takes the rates of the annotations', async () => {
  const shaped = await createPodHost('debbw');
  try {
    const bandwidth = { type: 'bandwidth', capabilities: { bandwidth: true } };
    shaped.write('1.conflist', listOf('shaped', [bridgeOf(shaped, '10.63.0.0/24'), bandwidth]));
    const pods = await shaped.start();
    const pod = shaped.makePod('slow', {
      annotations: { 'kubernetes.io/ingress-bandwidth': '1M', 'kubernetes.io/egress-bandwidth': '2M' },
    });
    await pods.setUp(pod);
    const qdiscs = await shaped.host.run(['tc', 'qdisc', 'show']);
    assert.match(qdiscs, /tbf .* rate 1Mbit/);
    assert.match(qdiscs, /tbf .* rate 2Mbit/);
    await pods.tearDown(pod);
    assert.doesNotMatch(await shaped.host.run(['tc', 'qdisc', 'show']), /tbf/);
  } finally {
    await shaped.close();
  }
});

describe('the runtime is killed', () => {
  const entry = path.join(import.meta.dirname, 'support/set-up-entry.js');
  /** Starts a runtime that dies in the plugin `killer`; what follows is its next life. */
  const dieDuring = async (plugins: (host: PodHost) => object[]): Promise<void> => {
    const dying = await createPodHost('kill');
    try {
      // The parent of a plugin is the runtime. Nothing comes after its end, when the next one may be at work.
      dying.script('killer', 'echo $CNI_COMMAND >>$LOG\n[ $CNI_COMMAND = DEL ] || kill -9 $PPID');
      dying.write('1.conflist', listOf('pods', plugins(dying)));
      const { at, ...pod } = dying.makePod('cut');
      const options = {
        ...{ configDirectory: dying.config, stateDirectory: dying.state, timeoutMs: 30_000 },
        pluginPath: [dying.plugins, '/usr/lib/cni'],
        bootIdFile: path.join(dying.host.directory, 'boot_id'),
      };
      const killed = dying.host.start([
        process.execPath,
        entry,
        JSON.stringify(options),
        JSON.stringify(pod),
      ]);
      const exit = await killed.exited;
      assert.equal(exit.signal, 'SIGKILL', killed.stderr());
      assert.deepEqual([dying.records().length, dying.cached().length], [1, 0]);
      await dying.start();
      assert.deepEqual(dying.leases('pods'), []);
      assert.deepEqual(await dying.links(), []);
      assert.deepEqual([dying.cached(), dying.records()], [[], []]);
      assert.ok(!(await hasEth0(at)));
      assert.equal(dying.log().at(-1), 'DEL');
    } finally {
      await dying.close();
    }
  };

  test('before the first plugin has done anything', () =>
    dieDuring((host) => [{ type: 'killer' }, bridgeOf(host, '10.66.0.0/24')]));

  test('after the first plugin, in the second', () =>
    dieDuring((host) => [bridgeOf(host, '10.66.0.0/24'), { type: 'killer' }]));
});

describe('a plugin that hangs with a child that holds a lock', () => {
  beforeEach(async () => {
    on = await createPodHost('hang');
  });
  afterEach(() => on.close());

  test('after the deadline no process is left, the lock is free, and DEL was called', async () => {
    const lock = path.join(on.host.directory, 'lock');
    on.script('hanging', `echo $CNI_COMMAND >>$LOG\n[ $CNI_COMMAND = ADD ] && flock ${lock} sleep 1000`);
    on.write('1.conflist', listOf('pods', [bridgeOf(on, '10.64.0.0/24'), { type: 'hanging' }]));
    const hanging = await on.start({ timeoutMs: 1_500 });
    const pod = on.makePod('stuck');
    await assert.rejects(hanging.setUp(pod), {
      code: 'NETWORK_ATTACH_FAILED',
      message: /plugin hanging failed to ADD: it was ended, since the deadline of 1500 ms has passed/,
    });
    assert.deepEqual(on.log(), ['ADD', 'DEL']);
    assert.deepEqual(on.host.processes(), []);
    await on.host.run(['flock', '--nonblock', lock, 'true']);
    await assertNothingLeft();
    await hanging.tearDown(pod);
    assert.deepEqual(on.log(), ['ADD', 'DEL']);
  });
});

describe('what every pod network promises', () => {
  for (const { name, run } of complianceCases) {
    test(name, async () => {
      const host = await createPodHost('cmp');
      const others: PodHost[] = [];
      const subjectOf = async (of: PodHost) => ({
        network: await of.start(),
        makePod: (id: string, more?: Partial<PodAttachment>) => of.makePod(id, more),
        failNext: (verb: 'setUp' | 'tearDown') => of.blow(verb === 'setUp' ? 'ADD' : 'DEL'),
        close: () => of.close(),
      });
      try {
        host.write('1.conflist', listOf('pods', [bridgeOf(host, '10.65.0.0/24'), portmap, fuse]));
        await run({
          ...(await subjectOf(host)),
          withoutNetwork: async () => {
            const other = await createPodHost('none');
            others.push(other);
            return subjectOf(other);
          },
        });
        // One case ends with a pod that is attached.
        await (await host.start()).collectGarbage([]);
        assert.deepEqual(host.leases('pods'), []);
      } finally {
        for (const each of [...others, host]) await each.close();
      }
    });
  }
});
