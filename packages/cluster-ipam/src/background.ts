/** Everything that a node does about its addresses without being asked. One step after the other; each ends in time. */
import { parseAddress } from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import { isUncertain } from '@podwire/store';
import { claimBlock } from './claims/claim.js';
import { announceSurplus, giveBackAnnounced, nextGiveBack, writeState } from './claims/give-back.js';
import { poolsToClaim } from './claims/stock.js';
import { type Core, poolAround } from './core.js';
import { checkImported, importedBlocks, judgeStrangeLoans } from './holdings/imported.js';
import { forEach } from './each.js';
import { blocksToTakeOver, takeOver } from './holdings/take-over.js';
import { noteRefusal } from './refusals.js';
import { returnBorrowed, withdrawRequests } from './loans/borrow.js';
import { answerRequests, settleDoubts } from './loans/lend.js';
import { confirmHoldings } from './trust/confirm.js';
import { pauseAfter } from './waiting.js';
import { type Assignment, writeAssignment } from './workloads/assign.js';

export interface Background {
  start(): void;
  wake(): void;
  /** All steps once. @throws as the store does */
  runOnce(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export interface BackgroundParts {
  /** Whether the cache has been filled. */
  readonly isSynced: () => boolean;
  /** What waits to be written into workloads. */
  readonly assignments: Assignment[];
  /** Reports again the blocks whose books may say what was so before. */
  readonly repeatUncertainReports: () => void;
}

/** Milliseconds until somebody whom the store does not know asks again. */
const unknownPause = 1_000;

export function createBackground(core: Core, parts: BackgroundParts): Background {
  const { isSynced, assignments, repeatUncertainReports } = parts;
  const { clock, timing, trust, log, stopped } = core;
  let nextConfirm = 0;
  let nextTidy = 0;
  /** As the store has said last. */
  let isKnown = false;
  let failures = 0;
  let isAwake = true;
  let wakeSleeper = (): void => undefined;
  let running: Promise<void> | undefined;

  async function confirm(signal: AbortSignal): Promise<void> {
    const isLost = isKnown && core.presence === undefined;
    if (clock.elapsed() < nextConfirm && !trust.isFenced && !isLost) return;
    isKnown = await confirmHoldings(core, signal);
    nextConfirm = clock.elapsed() + (isKnown ? timing.confirmEvery : unknownPause);
    if (isKnown) core.changed();
  }

  async function tidy(signal: AbortSignal): Promise<void> {
    if (clock.elapsed() < nextTidy) return;
    nextTidy = clock.elapsed() + timing.tidyEvery;
    repeatUncertainReports();
    await forEach(
      core,
      [
        () => announceSurplus(core, signal),
        () => returnBorrowed(core, signal),
        () => checkImported(core, importedBlocks(core), signal),
      ],
      signal,
      (step) => step(),
    );
  }

  async function confirmClaims(signal: AbortSignal): Promise<void> {
    const claimed = core.book.blocks().filter(({ state }) => state === 'pending');
    await forEach(core, claimed, signal, ({ cidr }) => writeState(core, cidr, 'confirmed', signal));
  }

  /** Blocks that were lost while pods are in them, and that nobody has claimed since. */
  async function reclaim(signal: AbortSignal): Promise<void> {
    await forEach(core, core.book.entries(), signal, async (entry) => {
      const address = parseAddress(entry.address);
      if (core.book.around(address) !== undefined || core.index.around(address) !== undefined) return;
      const pool = poolAround(core, address);
      if (pool !== undefined) await claimBlock(core, pool.name, address, signal);
    });
  }

  async function claimAhead(signal: AbortSignal): Promise<void> {
    await forEach(core, poolsToClaim(core), signal, (pool) => claimBlock(core, pool, undefined, signal));
  }

  async function assignAll(signal: AbortSignal): Promise<void> {
    const waiting = new Set<string>();
    await forEach(core, [...assignments], signal, async (next) => {
      // What came later of the same pod is what counts in the end.
      const pod = JSON.stringify([next.network, next.pod]);
      if (waiting.has(pod) || !assignments.includes(next)) return;
      waiting.add(pod);
      await writeAssignment(core, next, signal);
      waiting.delete(pod);
      const at = assignments.indexOf(next);
      if (at >= 0) assignments.splice(at, 1);
    });
  }

  /** Nothing of this is for somebody whom the store does not know. */
  const ownSteps: readonly ((signal: AbortSignal) => Promise<void>)[] = [
    (signal) => forEach(core, blocksToTakeOver(core), signal, (block) => takeOver(core, block, signal)),
    (signal) => judgeStrangeLoans(core, signal),
    // Before loans: the address of a pod that has ended here may be wanted by the next of its name elsewhere.
    assignAll,
    (signal) => answerRequests(core, signal),
    (signal) => withdrawRequests(core, signal),
    reclaim,
    claimAhead,
    confirmClaims,
    tidy,
    (signal) => giveBackAnnounced(core, signal),
  ];

  /** What fails always must not keep anything else from being done. */
  async function runOnce(signal: AbortSignal): Promise<void> {
    if (!isSynced()) return;
    const first = [(): Promise<void> => settleDoubts(core, signal), (): Promise<void> => confirm(signal)];
    const own = ownSteps.map((step) => async (): Promise<void> => {
      if (core.presence !== undefined && !trust.isFenced) await step(signal);
    });
    await forEach(core, [...first, ...own], signal, (step) => step());
  }

  async function loop(): Promise<void> {
    while (!stopped.aborted) {
      isAwake = false;
      try {
        await runOnce(stopped);
        failures = 0;
        noteRefusal(core, 'blocks', undefined);
      } catch (err) {
        if (stopped.aborted) return;
        failures++;
        noteRefusal(core, 'blocks', err);
        const message = isUncertain(err) ? 'nobody knows whether a write was done' : describeError(err);
        log.warn({ err }, `addressing: ${message}; it is tried again`);
      }
      await rest();
    }
  }

  /** Until there is something to do. After a failure for a while, whatever happens. */
  async function rest(): Promise<void> {
    if (failures > 0) {
      await sleep(pauseAfter(failures, timing), false);
      return;
    }
    if (isAwake) return;
    const due = Math.min(nextConfirm, nextTidy, nextGiveBack(core));
    const pause = core.presence === undefined ? unknownPause : Math.max(10, due - clock.elapsed());
    await sleep(pause, true);
  }

  async function sleep(milliseconds: number, isLight: boolean): Promise<void> {
    const awake = new AbortController();
    const wake = (): void => awake.abort();
    if (isLight) wakeSleeper = wake;
    stopped.addEventListener('abort', wake, { once: true });
    if (!stopped.aborted) await clock.sleep(milliseconds, awake.signal).catch(() => undefined);
    stopped.removeEventListener('abort', wake);
    wakeSleeper = () => undefined;
  }

  return {
    start: () => void (running ??= loop()),
    wake() {
      isAwake = true;
      wakeSleeper();
    },
    runOnce,
    stop: async () => running,
  };
}
