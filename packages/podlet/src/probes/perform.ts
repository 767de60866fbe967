import { type CriRuntime, type ExecSyncResponse, isCriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import type { Container, ProbeAction } from '@podwire/pod-spec';
import { resolvePort } from '../runtime-config/ports.js';
import { checkHealth } from './grpc-health.js';
import { httpGet } from './http-get.js';
import { failure, type ProbeOutcome, success, unknown } from './probe-state.js';
import { tcpConnect } from './connection.js';

export interface PerformTarget {
  readonly action: ProbeAction;
  /** Its ports, for those that are given by name. */
  readonly container: Pick<Container, 'ports'>;
  readonly containerId: string;
  readonly address: string;
  /** For the runtime, which ends the program then. */
  readonly timeoutSeconds: number;
}

type Runtime = Pick<CriRuntime, 'execSync'>;

/** The runtime ends the program by itself and then answers; the call may last so much longer. Milliseconds. */
export const execSlack = 2000;

/** Looks once. @throws only the signal's reason */
export async function performProbe(
  target: PerformTarget,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    return await performAction(target, runtime, signal);
  } catch (error) {
    // Clients throw errors of their own when they are aborted; why they were is what counts.
    signal.throwIfAborted();
    return failure(describeError(error));
  }
}

function performAction(target: PerformTarget, runtime: Runtime, signal: AbortSignal): Promise<ProbeOutcome> {
  const { exec, httpGet: http, tcpSocket, grpc } = target.action;
  if (exec !== undefined) return probeExec(exec.command, target, runtime, signal);
  if (http !== undefined) return probeHttp(http, target, signal);
  if (tcpSocket !== undefined) return probeTcp(tcpSocket, target, signal);
  if (grpc !== undefined) return probeGrpc(grpc, target, signal);
  return Promise.resolve(unknown('it has no action'));
}

/** A runtime that cannot be asked says nothing of the program. */
async function probeExec(
  cmd: readonly string[],
  { containerId, timeoutSeconds }: PerformTarget,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  let answer: ExecSyncResponse;
  try {
    const request = { containerId, cmd, timeout: BigInt(timeoutSeconds) };
    answer = await runtime.execSync(request, { signal, timeoutMs: timeoutSeconds * 1000 + execSlack });
  } catch (error) {
    signal.throwIfAborted();
    if (isCriError(error, 'DEADLINE_EXCEEDED')) return failure(`not ended within ${timeoutSeconds} s`);
    return unknown(describeError(error));
  }
  return answer.exitCode === 0 ? success() : failure(describeExit(answer));
}

/** As much of what it printed as an event can show. */
export function describeExit({ exitCode, stdout, stderr }: ExecSyncResponse): string {
  const output = Buffer.concat([stdout, stderr]).toString('utf8').trim().slice(0, 1024);
  return output === '' ? `exit code ${exitCode}` : `exit code ${exitCode}: ${output}`;
}

async function probeHttp(
  action: NonNullable<ProbeAction['httpGet']>,
  { container, address }: PerformTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const port = resolvePort(container, action.port);
  if (port === undefined) return noSuchPort(action.port);
  const { status, elsewhere } = await httpGet({ action, address, port, brokenBody: 'fails' }, signal);
  if (elsewhere !== undefined)
    return success(`HTTP status ${status}, a redirect to ${elsewhere} that is not followed`);
  const why = `HTTP status ${status}`;
  return status >= 200 && status < 400 ? success(why) : failure(why);
}

async function probeTcp(
  { port: wanted, host }: NonNullable<ProbeAction['tcpSocket']>,
  { container, address }: PerformTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const port = resolvePort(container, wanted);
  if (port === undefined) return noSuchPort(wanted);
  await tcpConnect(host ?? address, port, signal);
  return success();
}

async function probeGrpc(
  { port, service }: NonNullable<ProbeAction['grpc']>,
  { address }: PerformTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const status = await checkHealth({ host: address, port, service }, signal);
  return status === 'SERVING' ? success() : failure(`the service says ${status}`);
}

function noSuchPort(port: number | string): ProbeOutcome {
  return unknown(`the container has no port ${port}`);
}
