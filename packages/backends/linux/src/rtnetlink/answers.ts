/** Waiting until a neighbour answers. */
import { PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import {
  deleteNeighbourRequest,
  type InterfaceAddressEntry,
  listAddresses,
  type NeighbourState,
  type NetlinkConnection,
  probeNeighbourRequest,
  readNeighbour,
  resolveNeighbourRequest,
} from '@podwire/netlink';
import type { Clock } from '@podwire/platform';
import * as is from '../checks.js';
import { entryKey, keysBeforeEntries } from '../keys.js';
import { defineEntry, onLink } from './kind.js';
import type { NeighbourAnswers } from './resources.js';

/** Resources of the kind are waited for, in a batch of their own. */
export const ANSWERS = 'answers';

/** Milliseconds: a switch on another node may not have its flows yet. */
const ANSWERED_IN = 30_000;

const entry = defineEntry<NeighbourAnswers>()({
  kind: 'neighbour-answers',
  check: is.resource<NeighbourAnswers>({
    ...{ in: is.side, link: is.link, address: is.address, timeout: is.optional(is.count) },
    after: is.optional(is.listOf(is.text)),
  }),
  identify: ({ link, address }) => onLink(link, address),
  words: ({ address, link }) => `answer of ${address} on ${link}`,
  removal: 'never',
  inPlace: true,
  after: ({ in: place, link, after = [] }) => [
    ...keysBeforeEntries(place, link),
    ...['link-up', 'link-ready'].map((kind) => entryKey(kind, place, link)),
    ...after,
  ],
  waits: ({ timeout = ANSWERED_IN }) => timeout,
  create: ({ in: place, link, address }, links) => [
    resolveNeighbourRequest({ link: links.indexOf(place, link), address }),
  ],
  observe: () => undefined,
  compare: () => undefined,
});

export const neighbourAnswers: typeof entry = {
  ...entry,
  batch: ANSWERS,
  // It does not count as missing where its link is: nothing would come of a repair.
  diesWith: () => undefined,
};

export interface Question extends Pick<NeighbourAnswers, 'link' | 'address' | 'timeout'> {
  readonly route: NetlinkConnection;
  /** Of the link. */
  readonly index: number;
}

export interface Asker {
  /** For the error. */
  readonly owner: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Milliseconds between two looks: the first and the longest. Sockets of netlink do not wake this process. */
const PAUSES = { first: 1, longest: 50 };

/**
 * Milliseconds after which a question is taken for lost, before the kernel itself asks again after its `retrans_time` of a
 * second. The first one often is lost: ovn-controller says `ovn-installed` just before the datapath has the flows.
 */
const LOST_AFTER = [20, 60, 140, 300, 620];

/** @throws PodwireError NEIGHBOUR_SILENT after the time-out; NetlinkBatchError; the signal's reason */
export async function awaitAnswer(question: Question, { owner, clock, signal }: Asker): Promise<void> {
  const { timeout = ANSWERED_IN } = question;
  const start = clock.elapsed();
  const lostAfter = [...LOST_AFTER];
  for (let pause = PAUSES.first; ; pause = Math.min(2 * pause, PAUSES.longest)) {
    const waited = clock.elapsed() - start;
    const isLost = waited >= (lostAfter[0] ?? Infinity);
    if (isLost) lostAfter.shift();
    const obstacle = ask(question, isLost);
    if (obstacle === undefined) return;
    const left = timeout - waited;
    if (left <= 0) throw silent(question, timeout, owner, obstacle);
    await clock.sleep(Math.min(pause, left), signal);
  }
}

/** @returns why there is no answer yet */
function ask({ route, index, address, link }: Question, isLost: boolean): string | undefined {
  const neighbour = { link: index, address };
  const look = (): Step => nextStep(readNeighbour(route, neighbour)?.state, isLost);
  const step = look();
  if (step === 'done') return undefined;
  const unready = address.includes(':') ? describeUnready(readLinkLocal(route, index)) : undefined;
  if (unready !== undefined) return `${link} ${unready}`;
  if (step === 'resolve') route.request([resolveNeighbourRequest(neighbour)]);
  if (step === 'probe') route.request([probeNeighbourRequest(neighbour)]);
  if (step === 'anew') askAnew(route, neighbour);
  // Through a veth the answer is there before the kernel returns from the request.
  return look() === 'done' ? undefined : 'nothing has come back';
}

/** The kernel asks at once for an entry that is new, and for one that it waits for only after its `retrans_time`. */
function askAnew(route: NetlinkConnection, neighbour: { link: number; address: string }): void {
  try {
    route.request([deleteNeighbourRequest(neighbour), resolveNeighbourRequest(neighbour)]);
  } catch (error) {
    // The kernel has given it up just now; the second request has been carried out.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

type Step = 'done' | 'wait' | 'resolve' | 'probe' | 'anew';

/**
 * The next thing to do in a state of the entry; `undefined` is that of no entry. The kernel gives up after three seconds. Pure.
 * @param isLost the question, or its answer
 */
export function nextStep(state: NeighbourState | undefined, isLost: boolean): Step {
  switch (state) {
    case 'reachable':
    case 'permanent':
    case 'noarp':
      return 'done';
    case 'incomplete':
      return isLost ? 'anew' : 'wait';
    case 'probe':
      return 'wait';
    case 'stale':
    case 'delay':
      return 'probe';
    default:
      return 'resolve';
  }
}

/** A pod may have given its link any number of addresses. */
const MOST = 1024;

const readLinkLocal = (route: NetlinkConnection, link: number): InterfaceAddressEntry[] =>
  listAddresses(route, { family: 6, link, limit: MOST }).filter(({ scope }) => scope === 'link');

/**
 * The reason why the kernel would ask for nothing with IPv6: without a usable link-local address it sends no solicitation, and
 * takes that for a question without an answer. Pure.
 */
export function describeUnready(
  addresses: readonly Pick<InterfaceAddressEntry, 'flags'>[],
): string | undefined {
  if (addresses.length === 0) return 'has no link-local address to ask from';
  const unusable = addresses.filter(
    ({ flags }) => flags.includes('tentative') || flags.includes('optimistic'),
  );
  if (unusable.length < addresses.length) return undefined;
  const isTaken = unusable.some(({ flags }) => flags.includes('dadFailed'));
  return isTaken
    ? 'has a link-local address that another machine has, too'
    : 'has a link-local address that is still being checked for duplicates';
}

function silent({ address, link }: Question, timeout: number, owner: string, obstacle: string): PodwireError {
  const message = `${address} has not answered on ${link} of ${owner} for ${timeout / 1_000} s: ${obstacle}`;
  return new PodwireError('NEIGHBOUR_SILENT', message);
}
