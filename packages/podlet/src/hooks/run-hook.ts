import { type CriRuntime, isCriError } from '@podwire/cri';
import type { Clock } from '../contract.js';
import type { Container, Pod, ProbeAction } from '@podwire/pod-spec';
import { answerWithin } from '../probes/deadline.js';
import { httpGet } from '../probes/http-get.js';
import { describeExit, execSlack } from '../probes/perform.js';
import { tcpConnect } from '../probes/connection.js';
import { resolvePort } from '../runtime-config/ports.js';

export interface HookTarget {
  readonly pod: Pick<Pod, 'metadata'>;
  readonly container: Pick<Container, 'name' | 'ports'>;
  readonly containerId: string;
  readonly address: string;
  /** Milliseconds that its caller grants it, as a preStop hook has all of the grace period; the usual limit when absent. */
  readonly limit?: number;
}

export interface HookOptions {
  readonly runtime: Pick<CriRuntime, 'execSync'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Milliseconds after which a hook counts as failed whose caller grants it no other time. */
  readonly limit?: number;
}

/** Runs a postStart or preStop action once. @throws Error that says why it failed; the signal's reason */
export type RunHook = (action: ProbeAction, target: HookTarget, signal: AbortSignal) => Promise<void>;

/** Kubernetes lets a postStart hook hang for ever, and its container with it. */
const usualLimit = 600_000;

export function createRunHook({ runtime, clock, limit: usual = usualLimit }: HookOptions): RunHook {
  return (action, target, signal) => {
    const { limit = usual } = target;
    return answerWithin(clock, limit + execSlack, signal, (limited) => {
      if (action.exec !== undefined) return runExec(runtime, action.exec.command, target, limit, limited);
      return runOverNetwork(action, target, limited);
    });
  };
}

async function runExec(
  runtime: HookOptions['runtime'],
  cmd: readonly string[],
  { containerId }: HookTarget,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  const timeout = Math.ceil(limit / 1000);
  const request = { containerId, cmd, timeout: BigInt(timeout) };
  try {
    const answer = await runtime.execSync(request, { signal, timeoutMs: limit + execSlack });
    if (answer.exitCode !== 0) throw new Error(describeExit(answer));
  } catch (error) {
    if (!signal.aborted && isCriError(error, 'DEADLINE_EXCEEDED')) {
      throw new Error(`not ended within ${timeout} s`, { cause: error });
    }
    throw error;
  }
}

async function runOverNetwork(action: ProbeAction, target: HookTarget, signal: AbortSignal): Promise<void> {
  const { httpGet: http, tcpSocket } = action;
  if (http !== undefined) {
    // As the kubelet has it, the request is the hook: an answer of any status means that it was heard.
    const port = requirePort(http.port, target);
    await httpGet({ action: http, address: target.address, port, brokenBody: 'counts' }, signal);
  } else if (tcpSocket !== undefined) {
    await tcpConnect(tcpSocket.host ?? target.address, requirePort(tcpSocket.port, target), signal);
  } else {
    throw new Error('the hook has no action that a hook can have: exec, httpGet or tcpSocket');
  }
}

function requirePort(port: number | string, { container }: HookTarget): number {
  const number = resolvePort(container, port);
  if (number === undefined) throw new Error(`container ${container.name} has no port ${port}`);
  return number;
}
