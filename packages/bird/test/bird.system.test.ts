import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { silentLog, systemClock } from '@podwire/platform';
import {
  createPrivateHost,
  type PrivateHost,
  type RunningProcess,
  until,
  worldAddresses,
} from '@podwire/testkit';
import {
  askBird,
  type BgpSession,
  type BgpSpeaker,
  type BgpView,
  createBgpSpeaker,
  startBird,
  writeBirdConfig,
} from '../src/index.js';

const program = '/usr/sbin/bird';
const patience = (): AbortSignal => AbortSignal.timeout(60_000);

const withoutTime = ({ since: _, ...rest }: BgpSession): Omit<BgpSession, 'since'> => rest;

/** BIRD works out the time of day anew for each answer, and rounds it: the same moment may be a millisecond earlier or later. */
function assertSameMoment(one: string, other: string): void {
  const [first, second] = [one, other].map((text) => Date.parse(`1970-01-01T${text}Z`)) as [number, number];
  assert.ok(Math.abs(first - second) <= 1, `${one} is not ${other}`);
}

/** A router as people have them: a whole-hand-written daemon in the world beside the host. */
const routerConfig = `
router id ${worldAddresses.world.ipv4};
protocol device { scan time 10; }
protocol static offered { ipv4; route 10.244.9.0/26 blackhole; route 10.99.0.0/24 blackhole; route 10.244.0.0/26 blackhole; route 0.0.0.0/0 blackhole; }
protocol static offered6 { ipv6; route fd00:244:9::/122 blackhole; }
protocol bgp node4 {
  local ${worldAddresses.world.ipv4} as 64500; neighbor ${worldAddresses.host.ipv4} as 64512; password "very secret";
  ipv4 { import all; export where source = RTS_STATIC; next hop self; };
}
protocol bgp node6 {
  local ${worldAddresses.world.ipv6} as 64500; neighbor ${worldAddresses.host.ipv6} as 64512;
  ipv6 { import all; export where source = RTS_STATIC; next hop self; };
}
`;

test('BIRD takes the router’s configuration that docs/bgp.md shows', () => {
  const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../../../docs/bgp.md'), 'utf8');
  const [, shown] = /^```bird\n([^]*?)^```$/m.exec(page) ?? [];
  assert.ok(shown);
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bgp-page-'));
  try {
    const file = path.join(directory, 'bird.conf');
    fs.writeFileSync(file, shown);
    execFileSync(program, ['-p', '-c', file], { timeout: 10_000 });
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
});

describe('a BIRD 2 daemon between node and router', () => {
  let host: PrivateHost;
  let speaker: BgpSpeaker;
  let node: RunningProcess;
  let files: { configFile: string; socketFile: string };
  let router: string;

  const view: BgpView = {
    node: 'node1',
    asn: 64512,
    routerId: worldAddresses.host.ipv4,
    ipv4: worldAddresses.host.ipv4,
    ipv6: worldAddresses.host.ipv6,
    neighbours: [
      { address: worldAddresses.world.ipv4, asn: 64500, password: 'very secret' },
      { address: worldAddresses.world.ipv6, asn: 64500 },
    ],
    announced: ['10.244.0.0/26', 'fd00:244::/122'],
    pools: ['10.244.0.0/16', 'fd00:244::/32'],
  };

  const atRouter = async (prefix: string): Promise<string | undefined> => {
    const reply = await askBird(router, `show route for ${prefix}`, { deadline: 5_000 }).catch(
      () => undefined,
    );
    const text = reply?.lines.map((line) => line.text).join('\n') ?? '';
    return text.includes(`${prefix} `) && text.includes('podwire') === false && text.includes('node')
      ? text
      : undefined;
  };
  const inKernel = async (prefix: string): Promise<string | undefined> => {
    const family = prefix.includes(':') ? '-6' : '-4';
    const text = await host.run(['ip', family, 'route', 'show', prefix]);
    return text.includes('proto bird') ? text : undefined;
  };
  const missing = async (look: Promise<unknown>): Promise<true | undefined> =>
    (await look) === undefined ? true : undefined;

  /** The daemon as a program that runs inside the host, started by agent or test. */
  const inHost = (): string => {
    const file = path.join(host.directory, 'bird');
    const text = `#!/bin/sh\nexec nsenter --net=${host.namespace.path} ${program} "$@"\n`;
    fs.writeFileSync(file, text, { mode: 0o700 });
    return file;
  };

  before(async () => {
    host = await createPrivateHost({ name: 'bgp', world: true });
    files = {
      configFile: path.join(host.directory, 'bird.conf'),
      socketFile: path.join(host.directory, 'bird.ctl'),
    };
    router = path.join(host.directory, 'router.ctl');
    const routerFile = path.join(host.directory, 'router.conf');
    fs.writeFileSync(routerFile, routerConfig);
    host.world!.start([program, '-f', '-c', routerFile, '-s', router]);
    writeBirdConfig(files.configFile, { ...view, announced: [], neighbours: [] });
    node = host.start([program, '-f', '-c', files.configFile, '-s', files.socketFile]);
    speaker = createBgpSpeaker({ ...files, deadline: 10_000, log: silentLog });
    await until('the daemon answers', () =>
      askBird(files.socketFile, 'show status', { deadline: 1_000 }).catch(() => undefined),
    );
  });
  after(() => host.close());

  test('blocks reach the router, and the router’s routes the kernel, as far as they lie in pools', async () => {
    await speaker.apply(view, patience());
    await until('10.244.0.0/26 at the router', () => atRouter('10.244.0.0/26'));
    await until('fd00:244::/122 at the router', () => atRouter('fd00:244::/122'));
    const taken = await until('10.244.9.0/26 in the kernel', () => inKernel('10.244.9.0/26'));
    assert.match(taken, /metric 32 /);
    const taken6 = await until('fd00:244:9::/122 in the kernel', () => inKernel('fd00:244:9::/122'));
    assert.match(taken6, /metric 3072 /);
    assert.equal(await inKernel('10.99.0.0/24'), undefined, 'outside the pools');
    assert.equal(await inKernel('10.244.0.0/26'), undefined, 'an own block');
    const sessions = await speaker.sessions(patience());
    assert.deepEqual(
      sessions.map(({ state }) => state),
      ['Established', 'Established'],
    );
  });

  test('a block that comes and goes does not touch the sessions', async () => {
    const before = await speaker.sessions(patience());
    await speaker.apply({ ...view, announced: [...view.announced, '10.244.0.64/26'] }, patience());
    await until('the new block at the router', () => atRouter('10.244.0.64/26'));
    await speaker.apply(view, patience());
    await until('the block is withdrawn', () => missing(atRouter('10.244.0.64/26')));
    const after = await speaker.sessions(patience());
    assert.deepEqual(after.map(withoutTime), before.map(withoutTime));
    for (const [index, { since }] of after.entries()) assertSameMoment(since, before[index]!.since);
    assert.ok(await atRouter('10.244.0.0/26'));
  });

  test('twenty views at once end with the last', async () => {
    const views = Array.from({ length: 20 }, (_, at) => ({ ...view, announced: [`10.244.3.${at}/32`] }));
    await Promise.all(views.map((one) => speaker.apply(one, patience())));
    await until('the last', () => atRouter('10.244.3.19/32'));
    await speaker.apply(view, patience());
  });

  test('the configuration is closed to others, and passwords are in no message', async () => {
    assert.equal(fs.statSync(files.configFile).mode & 0o777, 0o600);
    await assert.rejects(
      speaker.apply({ ...view, neighbours: [{ address: '192.0.2.1', asn: 1, password: 'no"no' }] }),
      {
        code: 'CONFIG_INVALID',
        message: /^(?!.*no"no)/,
      },
    );
  });

  test('routes outlive a killed daemon, and a new one takes up where it was', async () => {
    node.kill('SIGKILL');
    await node.exited;
    assert.ok(await inKernel('10.244.9.0/26'));
    await assert.rejects(speaker.sessions(patience()), { code: 'BGP_REFUSED' });
    const daemon = await startBird(
      { program: inHost(), ...files, clock: systemClock, log: silentLog },
      patience(),
    );
    host.defer(() => daemon.stop());
    await until('the session is back', async () => {
      const sessions = await speaker.sessions(patience()).catch(() => []);
      const allUp = sessions.length === 2 && sessions.every(({ state }) => state === 'Established');
      return allUp && (await inKernel('10.244.9.0/26')) !== undefined ? true : undefined;
    });
    assert.ok(await inKernel('10.244.9.0/26'));
    await daemon.stop();
    await assert.rejects(speaker.sessions(patience()), { code: 'BGP_REFUSED' });
  });

  test('what a killed agent has left running makes room for a new daemon', { timeout: 60_000 }, async () => {
    const former = host.start([program, '-f', '-R', '-c', files.configFile, '-s', files.socketFile]);
    await until('the former daemon answers', () =>
      askBird(files.socketFile, 'show status', { deadline: 1_000 }).catch(() => undefined),
    );
    const daemon = await startBird(
      { program: inHost(), ...files, clock: systemClock, log: silentLog },
      patience(),
    );
    host.defer(() => daemon.stop());
    await former.exited;
    await until('the session is back', async () => {
      const sessions = await speaker.sessions(patience()).catch(() => []);
      return sessions.length === 2 && sessions.every(({ state }) => state === 'Established')
        ? true
        : undefined;
    });
    await until('its route is back', () => inKernel('10.244.9.0/26'));
    await daemon.stop();
    await assert.rejects(speaker.sessions(patience()), { code: 'BGP_REFUSED' });
  });

  test('a program that is not there is named', async () => {
    const options = { ...files, program: '/usr/sbin/no-bird', clock: systemClock, log: silentLog };
    await assert.rejects(startBird(options, patience()), { code: 'PREREQUISITE_MISSING', message: /bird2/ });
  });
});
