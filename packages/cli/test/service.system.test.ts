/** The services under a real systemd, in the order in which an operator meets them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  CommandError,
  createPrivateHost,
  eventually,
  type PrivateHost,
  startSystemd,
  type Systemd,
} from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';

const podwire = [process.execPath, checkoutFile('bin/podwire')];

let host: PrivateHost;
let systemd: Systemd;
before(async () => {
  host = await createPrivateHost({ name: 'service', world: true });
  systemd = await startSystemd(host);
});
after(() => host?.close());

const run = (...argv: string[]): Promise<string> => systemd.run([...podwire, ...argv], { timeout: 120_000 });
const systemctl = (...argv: string[]): Promise<string> =>
  systemd.run(['systemctl', ...argv], { timeout: 120_000 });
const property = async (unit: string, name: string): Promise<string> =>
  (await systemctl('show', unit, `--property=${name}`, '--value')).trim();
/** Writes a file that only this systemd and its services see. */
const write = (file: string, text: string): Promise<string> => systemd.run(['tee', file], { input: text });

/** Of all pods; a pod agent that is just starting knows none. */
async function phases(): Promise<string[]> {
  const text = await run('ps', '-o', 'json').catch(() => '{"pods":[]}');
  const { pods } = JSON.parse(text) as { pods: { status: { phase: string } }[] };
  return pods.map(({ status }) => status.phase);
}

interface JournalLine {
  readonly MESSAGE: string;
  /** As syslog(3) counts. */
  readonly PRIORITY: string;
}

async function journalOf(unit: string): Promise<JournalLine[]> {
  const text = await systemd.journal(`--unit=${unit}`, `_SYSTEMD_UNIT=${unit}.service`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalLine);
}
const messages = async (unit: string): Promise<string[]> =>
  (await journalOf(unit)).map(({ MESSAGE }) => MESSAGE);

interface ServiceState {
  readonly services: readonly { readonly unit: string; readonly active: string; readonly status: string }[];
}

test('install writes units that systemd finds nothing to say about, and both agents become active', async () => {
  const said = await run('service', 'install');
  assert.match(said, /created +\/etc\/systemd\/system\/podwire-agent\.service/);
  assert.match(said, /Running: podwire-agent\.service podwire-podlet\.service/);
  const units = ['podwire-agent.service', 'podwire-podlet.service'].map(
    (unit) => `/etc/systemd/system/${unit}`,
  );
  assert.equal(await systemd.run(['systemd-analyze', 'verify', '--man=no', ...units]), '');
  const { services } = JSON.parse(await run('service', 'status', '-o', 'json')) as ServiceState;
  assert.deepEqual(
    services.map(({ active }) => active),
    ['active', 'active'],
    await systemd.journal(),
  );
  assert.match(services[0]!.status, /^ready, 0 endpoints$/);
  assert.equal(await property('podwire-agent', 'UnitFileState'), 'enabled');
});

test('again, it changes nothing and starts nothing again', async () => {
  const before = await property('podwire-agent', 'MainPID');
  assert.doesNotMatch(await run('service', 'install'), /created|replaced/);
  assert.equal(await property('podwire-agent', 'MainPID'), before);
});

test('the agent is confined as far as it still works', async () => {
  const report = await systemd.run(['systemd-analyze', 'security', '--no-pager', 'podwire-agent.service']);
  const [, exposure = ''] = /Overall exposure level for podwire-agent\.service: ([\d.]+)/.exec(report) ?? [];
  assert.ok(Number(exposure) < 5, report);
});

let podProcess: string;
test('a manifest in its folder becomes a pod', async () => {
  const manifest = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'none', command: ['/bin/sleep', '1000'] }],
    },
  };
  await write('/etc/podwire/pods/web.yaml', JSON.stringify(manifest));
  await eventually('the pod runs', async () => (await phases()).join() === 'Running', { timeout: 60_000 });
  podProcess = (await systemd.run(['pgrep', '-x', 'sleep'])).trim();
  assert.match(await run('pods'), /web/);
});

test('routes that are deleted in a pod come back long before the next round', async () => {
  const inPod = (...argv: string[]): Promise<string> =>
    systemd.run(['nsenter', '-n', '-t', podProcess, ...argv]);
  const intact = await inPod('ip', 'route');
  await inPod('ip', 'route', 'flush', 'dev', 'eth0');
  await eventually('they are back', async () => (await inPod('ip', 'route')) === intact, { timeout: 20_000 });
});

test('systemctl reload loads the configuration of both', async () => {
  await write('/etc/podwire/agent.yaml', 'log: { level: debug }\n');
  await systemctl('reload', 'podwire-agent');
  await eventually('the agent has loaded it', async () =>
    (await messages('podwire-agent')).some((line) => /log.level.*setting changed/.test(line)),
  );
  await write('/etc/podwire/agent.yaml', 'log: { level: debug }\ncoolDown: 5s\n');
  await assert.rejects(run('config', 'reload'), (error) => {
    assert.ok(error instanceof CommandError);
    assert.equal(error.exit.code, 4);
    assert.match(error.stdout, /waiting {2}coolDown: needs a restart of the agent/);
    return true;
  });
  assert.match(await run('status'), /config {5}\/etc\/podwire\/agent\.yaml, loaded .* sha256/);
  const podlet = await systemd.run(['cat', '/etc/podwire/podlet.yaml']);
  await write('/etc/podwire/podlet.yaml', `${podlet}logLevel: debug\n`);
  await systemctl('reload', 'podwire-podlet');
  await eventually('the pod agent has loaded it', async () =>
    (await messages('podwire-podlet')).some((line) => /logLevel.*setting changed/.test(line)),
  );
  assert.equal(await property('podwire-podlet', 'ActiveState'), 'active');
});

test('lines in the journal have the priority of their level', async () => {
  const lines = (await journalOf('podwire-agent')).filter(({ MESSAGE }) => MESSAGE.startsWith('{'));
  const found = lines.map(({ MESSAGE, PRIORITY }) =>
    [(JSON.parse(MESSAGE) as { level: string }).level, PRIORITY].join(),
  );
  assert.ok(found.includes('warn,4') && found.includes('info,6'), found.join(' '));
});

test('a killed agent is started again, and pods go on', async () => {
  for (const unit of ['podwire-agent', 'podwire-podlet']) {
    const pid = await property(unit, 'MainPID');
    await systemctl('kill', '--kill-who=main', '--signal=KILL', unit);
    await eventually(
      `${unit} runs again`,
      async () =>
        (await property(unit, 'ActiveState')) === 'active' && (await property(unit, 'MainPID')) !== pid,
      { timeout: 60_000 },
    );
  }
  await eventually('the pod is known', async () => (await phases()).join() === 'Running', {
    timeout: 60_000,
  });
  assert.equal((await systemd.run(['pgrep', '-x', 'sleep'])).trim(), podProcess);
});

test('an agent that hangs is found by the watchdog', async () => {
  await systemd.run(['mkdir', '-p', '/etc/systemd/system/podwire-agent.service.d']);
  await write('/etc/systemd/system/podwire-agent.service.d/quick.conf', '[Service]\nWatchdogSec=2s\n');
  await systemctl('daemon-reload');
  await systemctl('restart', 'podwire-agent');
  const pid = await property('podwire-agent', 'MainPID');
  await systemctl('kill', '--kill-who=main', '--signal=STOP', 'podwire-agent');
  await eventually(
    'another agent runs',
    async () =>
      (await property('podwire-agent', 'ActiveState')) === 'active' &&
      (await property('podwire-agent', 'MainPID')) !== pid,
    { timeout: 60_000 },
  );
  assert.match(
    await systemd.journal('UNIT=podwire-agent.service'),
    /podwire-agent\.service: Watchdog timeout/,
  );
});

test('uninstall leaves what the administrator has changed, and nothing else', async () => {
  await systemd.run([
    'rm',
    '-r',
    '/etc/systemd/system/podwire-agent.service.d',
    '/etc/podwire/pods/web.yaml',
  ]);
  await eventually('the pod is gone', async () => (await run('ps', '-o', 'json')).includes('"pods": []'), {
    timeout: 60_000,
  });
  const said = await run('service', 'uninstall');
  assert.match(said, /kept +\/etc\/podwire\/agent\.yaml/);
  assert.match(said, /removed +\/etc\/systemd\/system\/podwire-agent\.service/);
  const left = await systemd.run([
    'find',
    '/etc/podwire',
    '/etc/systemd/system',
    '-name',
    '*podwire*',
    '-o',
    '-path',
    '/etc/podwire/*',
  ]);
  assert.deepEqual(left.trim().split('\n').sort(), [
    '/etc/podwire',
    '/etc/podwire/agent.yaml',
    '/etc/podwire/podlet.yaml',
  ]);
  assert.equal(await property('podwire-agent', 'LoadState'), 'not-found');
});

test('with a prefix files are written below it, and systemd is left alone', async () => {
  const prefix = path.join(host.directory, 'image');
  const said = await host.run([...podwire, 'service', 'install', 'agent', '--prefix', prefix]);
  assert.match(said, /systemctl enable --now podwire-agent\.service/);
  const unit = fs.readFileSync(path.join(prefix, 'etc/systemd/system/podwire-agent.service'), 'utf8');
  assert.match(unit, /^Type=notify$/m);
  await host.run([...podwire, 'service', 'uninstall', 'agent', '--prefix', prefix]);
  assert.equal(fs.existsSync(prefix), false);
});
