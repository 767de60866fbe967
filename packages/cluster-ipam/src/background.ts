/** Everything that a node does about its addresses without being asked. One step after the other; each ends in time. */
import { parseAddress } from '@podwire/addresses';
import { describeError } from '@podwire/errors';
import { isUncertain } from '@podwire/store';
import { claimBlock } from './claims/claim.js';
import { announceSurplus, giveBackAnnounced, nextGiveBack, writeState } from './claims/give-back.js';
import { poolsToClaim } from './claims/stock.js';
import { type Core, poolAround } from './core.js';
import { checkImported, importedBlocks, judgeStrangeLoans } from './holdings/imported.js';
import { blocksToTakeOver, takeOver } from './holdings/take-over.js';
import { noteRefusal } from './refusals.js';
import { returnBorrowed } from './loans/borrow.js';
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
  /** Whether the copy has been filled. */
  readonly isSynced: () => boolean;
  /** What waits to be written into workloads. */
  readonly assignments: Assignment[];
}

/** Milliseconds until somebody whom the store does not know asks again. */
const unknownPause = 1_000;

export function createBackground(core: Core, { isSynced, assignments }: BackgroundParts): Background {
  const { clock, timing, trust, log, stopped } = core;
  let nextConfirm = 0;
  let nextTidy = 0;
  let failures = 0;
  let isAwake = true;
  let wakeSleeper = (): void => undefined;
  let running: Promise<void> | undefined;

  async function confirm(signal: AbortSignal): Promise<void> {
    if (clock.elapsed() < nextConfirm && !trust.isFenced) return;
    const isKnown = await confirmHoldings(core, signal);
    nextConfirm = clock.elapsed() + (isKnown ? timing.confirmEvery : unknownPause);
    if (isKnown) core.changed();
  }

  async function tidy(signal: AbortSignal): Promise<void> {
    if (clock.elapsed() < nextTidy) return;
    nextTidy = clock.elapsed() + timing.tidyEvery;
    await announceSurplus(core, signal);
    await returnBorrowed(core, signal);
    await checkImported(core, importedBlocks(core), signal);
  }

  async function confirmClaims(signal: AbortSignal): Promise<void> {
    for (const held of core.book.blocks()) {
      if (held.state === 'pending') await writeState(core, held.cidr, 'confirmed', signal);
    }
  }

  /** Blocks that were lost while pods are in them, and that nobody has claimed since. */
  async function reclaim(signal: AbortSignal): Promise<void> {
    for (const entry of core.book.entries()) {
      const address = parseAddress(entry.address);
      if (core.book.around(address) !== undefined || core.index.around(address) !== undefined) continue;
      const pool = poolAround(core, address);
      if (pool !== undefined) await claimBlock(core, pool.name, address, signal);
    }
  }

  async function claimAhead(signal: AbortSignal): Promise<void> {
    for (const pool of poolsToClaim(core)) await claimBlock(core, pool, undefined, signal);
  }

  async function assignAll(signal: AbortSignal): Promise<void> {
    for (let next = assignments[0]; next !== undefined; next = assignments[0]) {
      await writeAssignment(core, next, signal);
      assignments.splice(assignments.indexOf(next), 1);
    }
  }

  async function runOnce(signal: AbortSignal): Promise<void> {
    if (!isSynced()) return;
    await settleDoubts(core, signal);
    await confirm(signal);
    // Nothing below is for somebody whom the store does not know.
    if (core.presence === undefined || trust.isFenced) return;
    for (const block of blocksToTakeOver(core)) await takeOver(core, block, signal);
    await judgeStrangeLoans(core, signal);
    await answerRequests(core, signal);
    await reclaim(signal);
    await claimAhead(signal);
    await confirmClaims(signal);
    await assignAll(signal);
    await tidy(signal);
    await giveBackAnnounced(core, signal);
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
