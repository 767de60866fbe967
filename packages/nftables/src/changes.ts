import { NetlinkBatchError, type NetlinkConnection, type NetlinkFailure } from '@podwire/netlink';
import { describeSet, type ElementChange } from './element.js';
import { encodeElements } from './element-request.js';
import { NftablesError, translateFailure } from './errors.js';
import { presentKeys } from './lookup.js';
import { inTransaction } from './request.js';
import { encodeSteps, locateStep, planSteps, type Step, type StepMessage } from './steps.js';

/** How often a list of changes is put together anew when the tables changed in between. */
const ATTEMPTS = 16;

/**
 * Carries out changes in one transaction: all or nothing.
 *
 * A transaction with one refused message fails as a whole, so "delete if it is there" needs care. Linux 6.3 has a
 * message for it; on older kernels the keys are looked up first and only those that exist are deleted, anew when one
 * vanished in between. Neither forgives a set or table that is absent: its steps are left out and the rest sent again.
 * @throws NftablesError naming the first change of each message that was refused.
 */
export function applyChanges(
  connection: NetlinkConnection,
  changes: readonly ElementChange[],
  destroySupported: boolean,
): void {
  let steps = planSteps(changes);
  for (let attempt = 1; steps.length > 0; attempt++) {
    const sent = destroySupported ? steps : withoutDestroy(connection, steps);
    const refused = sendSteps(connection, encodeSteps(sent));
    if (refused === undefined) return;
    const serious = refused.filter((refusal) => !forgivable(refusal, destroySupported));
    if (serious.length > 0 || attempt === ATTEMPTS) throw toError(serious.length > 0 ? serious : refused);
    if (destroySupported) steps = withoutSets(steps, refused);
  }
}

interface Refusal {
  readonly failure: NetlinkFailure;
  /** Absent when the transaction as a whole was refused. */
  readonly message: StepMessage | undefined;
}

function sendSteps(connection: NetlinkConnection, messages: readonly StepMessage[]): Refusal[] | undefined {
  if (messages.length === 0) return undefined;
  try {
    connection.request(inTransaction(messages.map(({ request }) => request)));
    return undefined;
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    // The message that begins the transaction stands in front of ours.
    return error.failures.map((failure) => ({ failure, message: messages[failure.index - 1] }));
  }
}

/** Whether a refusal only says that something to be removed is not there. */
function forgivable({ failure, message }: Refusal, destroySupported: boolean): boolean {
  const step = message?.steps[0];
  if (failure.code !== 'ENOENT' || step === undefined) return false;
  return destroySupported ? step.op === 'destroy' : step.op === 'delete' && step.change.op !== 'delete';
}

function withoutSets(steps: readonly Step[], refused: readonly Refusal[]): Step[] {
  const absent = new Set(refused.map(({ message }) => describeSet(message!.steps[0]!.change)));
  return steps.filter(({ op, change }) => op !== 'destroy' || !absent.has(describeSet(change)));
}

function withoutDestroy(connection: NetlinkConnection, steps: readonly Step[]): Step[] {
  const destroying = steps.filter(({ op }) => op === 'destroy');
  const present = presentKeys(
    connection,
    destroying.map(({ change }) => change),
  );
  const existing = new Set(destroying.filter((_, n) => present[n]).map(({ index }) => index));
  return steps.flatMap((step): Step[] => {
    if (step.op !== 'destroy') return [step];
    return existing.has(step.index) ? [{ ...step, op: 'delete' }] : [];
  });
}

function toError(refused: readonly Refusal[]): NftablesError {
  return new NftablesError(
    refused.map(({ failure, message }) =>
      translateFailure(failure, () =>
        message === undefined
          ? { label: 'nftables transaction' }
          : locateStep(message, failure.attributeOffset),
      ),
    ),
  );
}

/**
 * Whether the kernel knows NFT_MSG_DESTROYSETELEM, asked by destroying something in a table that nobody has: that is
 * ENOENT, and an unknown message is EINVAL.
 */
export function supportsDestroy(connection: NetlinkConnection): boolean {
  const nowhere = { family: 'inet', table: 'is-destroy-known', set: 'no-such-set' } as const;
  const { request } = encodeElements('destroy', nowhere, [{ key: [{ type: 'mark', value: 0 }] }]);
  try {
    connection.request(inTransaction([request]));
    return true;
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) throw error;
    if (error.code === 'EINVAL' || error.code === 'EOPNOTSUPP') return false;
    if (error.code === 'ENOENT') return true;
    throw error;
  }
}
