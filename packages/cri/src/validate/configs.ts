/** Configurations of sandboxes and containers. What a runtime may do or not (sysctls, handlers) is its own affair. */
import type { ContainerConfig, ImageSpec, Int64Value, PodSandboxConfig } from '../messages.js';
import * as rule from './rules.js';

/** Linux' limit (sethostname(2)). */
const maxHostname = 64;

export function validateSandboxConfig(config: PodSandboxConfig | undefined): void {
  const { metadata, hostname, logDirectory, dnsConfig, portMappings, linux } = rule.requireMessage(
    'config',
    config,
  );
  const { name, namespace, uid } = rule.requireMessage('config.metadata', metadata);
  rule.requireId('config.metadata.name', name);
  rule.requireId('config.metadata.namespace', namespace);
  rule.requireId('config.metadata.uid', uid);
  if (Buffer.byteLength(hostname) > maxHostname) rule.refuse('config.hostname', 'is longer than 64 bytes');
  if (logDirectory !== '') rule.requireAbsolute('config.log_directory', logDirectory);
  for (const key of ['servers', 'searches', 'options'] as const)
    for (const [index, word] of (dnsConfig?.[key] ?? []).entries())
      rule.requireWord(`config.dns_config.${key}[${index}]`, word);
  for (const [index, { containerPort, hostPort }] of portMappings.entries()) {
    rule.requirePort(`config.port_mappings[${index}].container_port`, containerPort, 1);
    rule.requirePort(`config.port_mappings[${index}].host_port`, hostPort, 0);
  }
  validateSecurity(linux?.securityContext);
}

export function validateContainerConfig(config: ContainerConfig | undefined): void {
  const { metadata, image, envs, mounts, devices, logPath, workingDir, linux } = rule.requireMessage(
    'config',
    config,
  );
  rule.requireId('config.metadata.name', rule.requireMessage('config.metadata', metadata).name);
  validateImage('config.image', image);
  for (const [index, { key }] of envs.entries())
    if (key === '' || key.includes('=')) rule.refuse(`config.envs[${index}].key`, 'is no name of a variable');
  for (const [index, { hostPath, containerPath }] of mounts.entries()) {
    rule.requireAbsolute(`config.mounts[${index}].host_path`, hostPath);
    rule.requireAbsolute(`config.mounts[${index}].container_path`, containerPath);
  }
  for (const [index, { hostPath }] of devices.entries())
    rule.requireAbsolute(`config.devices[${index}].host_path`, hostPath);
  rule.requireRelative('config.log_path', logPath);
  if (workingDir !== '') rule.requireAbsolute('config.working_dir', workingDir);
  validateSecurity(linux?.securityContext);
}

interface SecurityContext {
  readonly runAsUser?: Int64Value | undefined;
  readonly runAsGroup?: Int64Value | undefined;
  /** Sandboxes have none. */
  readonly runAsUsername?: string;
  readonly seccompProfilePath: string;
}

/** The interface: a group without a user MUST be an error; profiles by path have these forms (`docker/default` is of old). */
function validateSecurity(context: SecurityContext | undefined): void {
  const { runAsUser, runAsGroup, runAsUsername = '', seccompProfilePath = '' } = context ?? {};
  const at = 'config.linux.security_context';
  if (runAsGroup !== undefined && runAsUser === undefined && runAsUsername === '')
    rule.refuse(`${at}.run_as_group`, 'is given without a user');
  if (!/^(|unconfined|(runtime|docker)\/default|localhost\/.+)$/s.test(seccompProfilePath))
    rule.refuse(`${at}.seccomp_profile_path`, `${JSON.stringify(seccompProfilePath)} is no profile`);
}

export function validateImage(field: string, image: ImageSpec | undefined): void {
  rule.requireText(`${field}.image`, rule.requireMessage(field, image).image);
}
