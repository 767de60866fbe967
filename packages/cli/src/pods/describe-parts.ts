/** Parts of a pod in a few words; pure. */
import type { Container, ContainerStatus, Probe, ProbeAction, Volume } from '@podwire/pod-spec';

/** `running since …, ready, 2 restarts`, or why not. */
export function describeState({ state, lastState, ready, started, restartCount }: ContainerStatus): string {
  const restarts =
    restartCount === 0 ? [] : [`${restartCount} ${restartCount === 1 ? 'restart' : 'restarts'}`];
  const before = lastState.terminated === undefined ? [] : [`before: ${describeEnd(lastState.terminated)}`];
  return [describeNow(state, ready, started), ...restarts, ...before].join(', ');
}

function describeNow(
  { running, waiting, terminated }: ContainerStatus['state'],
  ready: boolean,
  started: boolean,
): string {
  if (running !== undefined) {
    const probe = started ? 'not ready' : 'not started by its startup probe';
    return `running since ${running.startedAt}, ${ready ? 'ready' : probe}`;
  }
  if (terminated !== undefined) return describeEnd(terminated);
  const { reason = 'not known yet', message } = waiting ?? {};
  return `waiting: ${reason}${message === undefined ? '' : `, ${message}`}`;
}

function describeEnd({
  reason,
  exitCode,
  finishedAt,
  message,
}: NonNullable<ContainerStatus['state']['terminated']>): string {
  const at = finishedAt === undefined ? '' : ` at ${finishedAt}`;
  const said = message === undefined ? '' : ` (${message.trim()})`;
  return `ended${at}: ${reason}, exit code ${exitCode}${said}`;
}

/** `readiness: GET :80/ every 1 s, fails after 3` */
export function describeProbes({ startupProbe, livenessProbe, readinessProbe }: Container): string[] {
  const probes = { startup: startupProbe, liveness: livenessProbe, readiness: readinessProbe };
  return Object.entries(probes).flatMap(([kind, probe]) =>
    probe === undefined ? [] : [`${kind} probe: ${describeProbe(probe)}`],
  );
}

function describeProbe(probe: Probe): string {
  const { periodSeconds, timeoutSeconds, failureThreshold, initialDelaySeconds } = probe;
  const delay = initialDelaySeconds === 0 ? '' : ` after ${initialDelaySeconds} s`;
  return `${describeAction(probe)}${delay}, every ${periodSeconds} s, within ${timeoutSeconds} s, ${failureThreshold} failures count`;
}

function describeAction({ exec, httpGet, tcpSocket, grpc }: ProbeAction): string {
  if (httpGet !== undefined)
    return `${httpGet.scheme} GET ${httpGet.host ?? ''}:${httpGet.port}${httpGet.path}`;
  if (tcpSocket !== undefined) return `TCP ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  if (grpc !== undefined) return `gRPC :${grpc.port} ${grpc.service}`.trimEnd();
  return `exec ${exec?.command.join(' ') ?? ''}`;
}

export function describeVolume({ emptyDir, hostPath, configMap }: Volume): string {
  if (emptyDir !== undefined) {
    const medium = emptyDir.medium === 'Memory' ? ' in memory' : '';
    return `emptyDir${medium}${emptyDir.sizeLimit === undefined ? '' : `, at most ${emptyDir.sizeLimit}`}`;
  }
  if (hostPath !== undefined) return `hostPath ${hostPath.path}`;
  if (configMap !== undefined)
    return `configMap ${configMap.name}${configMap.optional === true ? ', optional' : ''}`;
  return 'of a kind that is not supported';
}
