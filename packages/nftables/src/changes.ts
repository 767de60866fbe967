import { NetlinkBatchError, type NetlinkConnection, type NetlinkFailure } from '@podwire/netlink';
import { describeChange, describeSet, type ElementChange } from './element.js';
import { encodeElements } from './element-request.js';
import { NftablesError, refusal, translateFailure } from './errors.js';
import { isIntervalKey } from './interval.js';
import { OverlapFinder, presentKeys } from './lookup.js';
import { inTransaction } from './request.js';
import type { CommandMessage, CommandMessages } from './rules/commands.js';
import { encodeSteps, locateStep, planSteps, type Step, type StepMessage } from './steps.js';
import { formatValues } from './values.js';

/** How often a list of changes is put together anew when the tables changed in between. */
const ATTEMPTS = 16;
const ENOENT = 2;

export interface ChangeOptions {
  readonly destroySupported: boolean;
  /** The rest of the transaction, as of now: it is asked for anew when something was removed in between. */
  readonly frame?: () => CommandMessages;
  /** The number of a change in messages; its place in the list when absent. */
  readonly indexOf?: (place: number) => number;
}

const NOTHING_ELSE: CommandMessages = { before: [], after: [] };

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
  { destroySupported, frame, indexOf = (n) => n }: ChangeOptions,
): void {
  let steps = planSteps(changes).map((step) => ({ ...step, index: indexOf(step.index) }));
  for (let attempt = 1; ; attempt++) {
    const { before, after } = frame?.() ?? NOTHING_ELSE;
    const sent = encodeSteps(lookUpFirst(connection, steps, destroySupported));
    const refused = send(connection, [...before, ...sent, ...after]);
    if (refused === undefined) return;
    const serious = refused.filter((refusal) => !forgivable(refusal));
    if (serious.length > 0 || attempt === ATTEMPTS) throw toError(serious.length > 0 ? serious : refused);
    steps = withoutSets(steps, refused);
  }
}

type Message = StepMessage | CommandMessage;

interface Refusal {
  readonly failure: NetlinkFailure;
  /** Absent when the transaction as a whole was refused. */
  readonly message: Message | undefined;
}

function send(connection: NetlinkConnection, messages: readonly Message[]): Refusal[] | undefined {
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

/** Reports if a refusal only means that something to be removed is not there. */
function forgivable({ failure, message }: Refusal): boolean {
  if (failure.code !== 'ENOENT' || message === undefined) return false;
  if (!('steps' in message)) return message.removes === true;
  const step = message.steps[0]!;
  return step.op === 'destroy' || (step.op === 'delete' && step.change.op !== 'delete');
}

function withoutSets(steps: readonly Step[], refused: readonly Refusal[]): Step[] {
  const destroying = refused.flatMap(({ message }) => {
    const step = message !== undefined && 'steps' in message ? message.steps[0]! : undefined;
    return step?.op === 'destroy' ? [describeSet(step.change)] : [];
  });
  const absent = new Set(destroying);
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
  const overlaps = new OverlapFinder(connection);
  const all = steps.flatMap((step) => (makesRoom(step) ? roomFor(overlaps, step) : [step]));
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

function roomFor(overlaps: OverlapFinder, step: Step): Step[] {
  const inTheWay = overlaps.find(step.change);
  return inTheWay.map((key) => ({ ...step, change: { ...step.change, key } }));
}

const nameElement = ({ change }: Step): string => `${describeSet(change)} ${formatValues(change.key)}`;

function toError(refused: readonly Refusal[]): NftablesError {
  return new NftablesError(
    refused.map(({ failure, message }) =>
      translateFailure(failure, () => locate(message, failure.attributeOffset)),
    ),
  );
}

function locate(message: Message | undefined, offset: number | undefined): ReturnType<typeof locateStep> {
  if (message === undefined) return { label: 'nftables transaction' };
  if ('steps' in message) return locateStep(message, offset);
  return { label: message.label(), index: message.index };
}

/**
 * Reports if the kernel knows NFT_MSG_DESTROYSETELEM, asked by destroying something in a table that does not exist:
 * that is ENOENT, and an unknown message is EINVAL.
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
