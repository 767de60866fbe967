/** Conditions of a Subnet, with the types and reasons of Kube-OVN 1.8. Pure. */
import type { PodwireError } from '@podwire/errors';
import type { Subnet } from '@podwire/objects';

export type Condition = NonNullable<Subnet['status']>['conditions'][number];

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

function updateCondition(before: Condition | undefined, finding: Finding, now: number): Condition {
  const { status, reason, message } = finding;
  if (before?.status === status && before.reason === reason && before.message === message) return before;
  const lastUpdateTime = formatTime(now);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : lastUpdateTime;
  return { ...finding, lastUpdateTime, lastTransitionTime };
}

/** RFC 3339, without fractions of a second, as Kubernetes has times. */
const formatTime = (now: number): string => new Date(now).toISOString().replace(/\.\d+/, '');
