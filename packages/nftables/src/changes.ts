import { NetlinkBatchError, type NetlinkConnection, type NetlinkFailure } from '@podwire/netlink';
import { describeChange, describeSet, type ElementChange } from './element.js';
import { encodeElements } from './element-request.js';
import { NftablesError, refusal, translateFailure } from './errors.js';
import { isIntervalKey } from './interval.js';
import { overlappingIntervals, presentKeys } from './lookup.js';
import { inTransaction } from './request.js';
import { encodeSteps, locateStep, planSteps, type Step, type StepMessage } from './steps.js';
import { formatValues } from './values.js';

/** How often a list of changes is put together anew when the tables changed in between. */
const ATTEMPTS = 16;
const ENOENT = 2;

/**
 * Carries out changes in one transaction: all or nothing.
 *
 * A transaction with one refused message fails as a whole, so "delete if it is there" needs care. Linux 6.3 has a
 * message for it; on older kernels the keys are looked up first and only those that exist are deleted, anew when one
 * vanished in between. Neither forgives a set or table that is absent: its steps are left out and the rest sent again.
 *
 * Intervals are looked up on every kernel. Their two elements are deleted by key, each for itself: the end of an interval
 * that is not there may be that of another one. Those in the way of one that replaces them are found in the same way.
 * @throws NftablesError naming the first change of each message that was refused.
 */
export function applyChanges(
  connection: NetlinkConnection,
  changes: readonly ElementChange[],
  destroySupported: boolean,
): void {
  let steps = planSteps(changes);
  for (let attempt = 1; steps.length > 0; attempt++) {
    const sent = lookUpFirst(connection, steps, destroySupported);
    const refused = sendSteps(connection, encodeSteps(sent));
    if (refused === undefined) return;
    const serious = refused.filter((refusal) => !forgivable(refusal));
    if (serious.length > 0 || attempt === ATTEMPTS) throw toError(serious.length > 0 ? serious : refused);
    steps = withoutSets(steps, refused);
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
function forgivable({ failure, message }: Refusal): boolean {
  const step = message?.steps[0];
  if (failure.code !== 'ENOENT' || step === undefined) return false;
  return step.op === 'destroy' || (step.op === 'delete' && step.change.op !== 'delete');
}

function withoutSets(steps: readonly Step[], refused: readonly Refusal[]): Step[] {
  const destroying = refused.map(({ message }) => message!.steps[0]!).filter(({ op }) => op === 'destroy');
  const absent = new Set(destroying.map(({ change }) => describeSet(change)));
  return steps.filter(({ op, change }) => op !== 'destroy' || !absent.has(describeSet(change)));
}

function lookUpFirst(
  connection: NetlinkConnection,
  steps: readonly Step[],
  destroySupported: boolean,
): readonly Step[] {
  const isLookedUp = ({ op, change }: Step): boolean =>
    isIntervalKey(change.key) ? op === 'delete' || op === 'destroy' : op === 'destroy' && !destroySupported;
  if (!steps.some(isLookedUp)) return steps;
  const all = steps.flatMap((step) => (makesRoom(step) ? roomFor(connection, step) : [step]));
  const removing = all.filter(isLookedUp);
  const present = presentKeys(
    connection,
    removing.map(({ change }) => change),
  );
  // As it is before each step: one transaction may add a key and remove it.
  const there = new Set(removing.filter((_, n) => present[n]).map(nameElement));
  return all.flatMap((step): Step[] => {
    const { op, change, index } = step;
    const name = nameElement(step);
    const wasThere = there.has(name);
    if (op === 'delete' || op === 'destroy') there.delete(name);
    else there.add(name);
    if (!isLookedUp(step)) return [step];
    if (wasThere) return [{ ...step, op: 'delete' }];
    if (op === 'delete') throw refusal('ENOENT', ENOENT, describeChange(change), index);
    return [];
  });
}

const makesRoom = ({ op, change }: Step): boolean =>
  op === 'destroy' && change.op === 'replace' && isIntervalKey(change.key);

function roomFor(connection: NetlinkConnection, step: Step): Step[] {
  const inTheWay = overlappingIntervals(connection, step.change);
  return inTheWay.map((key) => ({ ...step, change: { ...step.change, key } }));
}

const nameElement = ({ change }: Step): string => `${describeSet(change)} ${formatValues(change.key)}`;

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
 * Whether the kernel knows NFT_MSG_DESTROYSETELEM, asked by destroying something in a table that does not exist: that is
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
