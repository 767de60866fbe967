import { expect, test } from 'vitest';
import { renderAgentConfig, renderPodletConfig } from '../src/service/configs.js';
import { commandLine, isOwnUnit, renderUnit } from '../src/service/units.js';
import { checkConfig } from '@podwire/agent';
import { run } from './support.js';

const options = {
  program: ['/usr/bin/node', '--max-semi-space-size=4', '/opt/podwire/bin/podwire'],
  agentConfig: '/etc/podwire/agent.yaml',
  podletConfig: '/etc/podwire/podlet.yaml',
  directory: '/run/podwire',
  pluginDirectory: '/opt/podwire/bin',
};

test('the agent starts as it was started now, is told to reload, and has a watchdog', () => {
  const unit = renderUnit('agent', options);
  expect(isOwnUnit(unit)).toBe(true);
  expect(unit.split('\n')).toEqual(
    expect.arrayContaining([
      'Type=notify',
      'ExecStart=/usr/bin/node --max-semi-space-size=4 /opt/podwire/bin/podwire agent --config /etc/podwire/agent.yaml',
      'ExecReload=/bin/kill -HUP $MAINPID',
      'WatchdogSec=1min',
      'RuntimeDirectoryPreserve=yes',
      'ProtectHome=yes',
      'PrivateTmp=yes',
    ]),
  );
});

test('the agent keeps what it needs to hear of changes in pods', () => {
  expect(renderUnit('agent', options)).toMatch(/^CapabilityBoundingSet=.*\bCAP_NET_BROADCAST\b/m);
});

test('a program below a home or /tmp stays visible for it', () => {
  const unit = renderUnit('agent', { ...options, program: ['/usr/bin/node', '/root/podwire/bin/podwire'] });
  expect(unit).toContain('ProtectHome=read-only');
  expect(renderUnit('agent', { ...options, directory: '/tmp/podwire' })).not.toMatch(
    /PrivateTmp|RuntimeDirectory/,
  );
});

test('pods outlive the pod agent, and nothing of the unit confines them', () => {
  const unit = renderUnit('podlet', options);
  expect(unit).toContain('KillMode=process');
  expect(unit).not.toMatch(/^(Protect|Private|SystemCall|Capability|NoNewPrivileges|Restrict[A-Z])/m);
});

test('words that systemd would split or replace are quoted', () => {
  expect(commandLine(['/a b', '50%', '$HOME', 'say "hi"', '\\', 'plain=1'])).toBe(
    String.raw`"/a b" 50%% "$$HOME" "say \"hi\"" "\\" plain=1`,
  );
});

test('the configurations that are written can be used', () => {
  expect(checkConfig(renderAgentConfig(options)).problems).toEqual([]);
  const elsewhere = renderAgentConfig({ ...options, directory: '/srv/podwire' });
  expect(checkConfig(elsewhere)).toMatchObject({ config: { stateDir: '/srv/podwire' } });
  expect(renderPodletConfig(options)).toContain('manifests: ["/etc/podwire/pods"]');
});

test('a service of another name is refused', async () => {
  const { code, stderr } = await run(['service', 'install', 'nonsense']);
  expect(code).toBe(2);
  expect(stderr).toContain('agent');
});
