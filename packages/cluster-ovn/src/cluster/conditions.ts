/** Conditions of Subnets and ProviderNetworks, with the types and reasons of Kube-OVN 1.8. Pure. */
import type { PodwireError } from '@podwire/errors';
import type { ProviderNetwork, Subnet } from '@podwire/objects';

export type Condition = NonNullable<Subnet['status']>['conditions'][number];

export type NodeCondition = NonNullable<ProviderNetwork['status']>['conditions'][number];

type Times = Pick<Condition, 'lastUpdateTime' | 'lastTransitionTime'>;

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** @param now milliseconds since 1970; those that say the same as before keep their times */
export function updateConditions(
  { spec, status }: Subnet,
  fault: PodwireError | undefined,
  now: number,
): Condition[] {
  const before = status?.conditions ?? [];
  const findings = fault === undefined ? findingsOfSound(spec.private) : findingsOfFault(fault);
  const types = new Set(findings.map(({ type }) => type));
  return [
    ...findings.map((finding) =>
      updateCondition(
        before.find(({ type }) => type === finding.type),
        finding,
        now,
      ),
    ),
    ...before.filter(({ type }) => !types.has(type)),
  ];
}

function findingsOfSound(isPrivate: boolean): readonly Finding[] {
  const reason = isPrivate ? 'SetPrivateLogicalSwitchSuccess' : 'ResetLogicalSwitchAclSuccess';
  return [
    { type: 'Validated', status: 'True', reason, message: '' },
    { type: 'Ready', status: 'True', reason, message: '' },
    { type: 'Error', status: 'False', reason: 'NoError', message: '' },
  ];
}

function findingsOfFault({ message }: PodwireError): readonly Finding[] {
  const because = { reason: 'ValidateLogicalSwitchFailed', message };
  return [
    { type: 'Validated', status: 'False', ...because },
    { type: 'Ready', status: 'False', ...because },
    { type: 'Error', status: 'True', ...because },
  ];
}

/**
 * @param problem of the node; undefined: it is ready
 * @param now as above
 */
export function updateReadiness(
  before: readonly NodeCondition[],
  { node, problem }: { readonly node: string; readonly problem: string | undefined },
  now: number,
): NodeCondition {
  const known = before.find(({ type }) => type === 'Ready');
  const finding: Finding =
    problem === undefined
      ? { type: 'Ready', status: 'True', reason: 'InitOVSBridgeSucceeded', message: '' }
      : { type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', message: problem };
  return updateCondition(known, { node, ...finding }, now);
}

function updateCondition<F extends Finding>(
  before: (F & Times) | undefined,
  finding: F,
  now: number,
): F & Times {
  const { status, reason, message } = finding;
  if (before?.status === status && before.reason === reason && before.message === message) return before;
  const lastUpdateTime = formatTime(now);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : lastUpdateTime;
  return { ...finding, lastUpdateTime, lastTransitionTime };
}

/** RFC 3339, without fractions of a second, as Kubernetes has times. */
const formatTime = (now: number): string => new Date(now).toISOString().replace(/\.\d+/, '');
