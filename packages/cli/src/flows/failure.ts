/** Causes for which a bridge cannot be asked, each with what helps. */
import fs from 'node:fs/promises';
import { describeError, PodwireError } from '@podwire/errors';
import { compact, hasCode } from '@podwire/platform';

interface Asked {
  readonly bridge: string;
  readonly runDir: string;
  readonly socket: string;
  /** seconds */
  readonly timeout: number;
}

/** @param cause of the connection: an error of the system, SwitchError or OpenFlowError */
export async function explainFailure(cause: unknown, asked: Asked): Promise<PodwireError> {
  if (hasCode(cause, 'EACCES', 'EPERM'))
    return new PodwireError('PRIVILEGE_MISSING', `only root may open ${asked.socket}`, {
      action: 'Run the command as root, or with `sudo`.',
    });
  const [message, action] = await explainSilence(cause, asked);
  return new PodwireError('SWITCH_UNAVAILABLE', message, compact({ action }));
}

/**
 * @param error of `@podwire/unixctl`
 * @param timeout seconds
 */
export function explainControlFailure(error: unknown, timeout: number): PodwireError {
  const { cause } = error as Error;
  if (hasCode(error, 'EACCES', 'EPERM') || hasCode(cause, 'EACCES', 'EPERM'))
    return new PodwireError('PRIVILEGE_MISSING', 'only root may ask ovs-vswitchd', {
      action: 'Run the command as root, or with `sudo`.',
    });
  if (hasCode(error, 'TIMEOUT'))
    return new PodwireError('SWITCH_UNAVAILABLE', `ovs-vswitchd has not answered for ${timeout} s`, {
      action: busy,
    });
  const message = `ovs-vswitchd cannot be asked: ${describeError(error)}`;
  const action = hasCode(error, 'NOT_RUNNING', 'NOT_SENT')
    ? 'Start Open vSwitch (ovs-vswitchd), or say with --run-dir where its files are, or with --target where its control socket is.'
    : undefined;
  return new PodwireError('SWITCH_UNAVAILABLE', message, compact({ action }));
}

const busy = 'Look whether ovs-vswitchd is stopped or busy (`top`, its log); --timeout allows more seconds.';

async function explainSilence(cause: unknown, asked: Asked): Promise<readonly [string, string?]> {
  const { bridge, runDir, socket, timeout } = asked;
  if (hasCode(cause, 'ENOENT'))
    return [
      `bridge ${bridge} has no socket ${socket}${await listOthers(runDir)}`,
      'Name the bridge with --bridge. Where there is none at all, start Open vSwitch (ovs-vswitchd), or say with --run-dir where its sockets are.',
    ];
  if (hasCode(cause, 'ECONNREFUSED'))
    return [
      `nothing listens on ${socket}`,
      'Start Open vSwitch again: ovs-vswitchd has ended and left the file behind.',
    ];
  if (hasCode(cause, 'OFPHFC_INCOMPATIBLE'))
    return [
      `bridge ${bridge} does not speak OpenFlow 1.4`,
      `\`ovs-vsctl add Bridge ${bridge} protocols OpenFlow14\` allows it beside the versions that the bridge has. Its flows stay as they are.`,
    ];
  if (hasCode(cause, 'ETIMEDOUT')) return [`bridge ${bridge} has not answered for ${timeout} s`, busy];
  return [`bridge ${bridge} cannot be asked: ${describeError(cause)}`];
}

/** Bridges that do have a socket there. */
async function listOthers(runDir: string): Promise<string> {
  const files = await fs.readdir(runDir).catch((): string[] => []);
  const names = files.filter((file) => file.endsWith('.mgmt')).map((file) => file.slice(0, -'.mgmt'.length));
  return names.length === 0 ? '' : `; there are ${names.sort().join(', ')}`;
}
