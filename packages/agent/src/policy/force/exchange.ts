import type { Engine, Resource } from '@podwire/engine';
import type { RenderedDelta } from '@podwire/network-policy';
import { isSource } from '@podwire/network-traffic';
import type { Log } from '../../log.js';
import { policyOwner } from '../parts.js';

/**
 * Brings a change into force in one transaction. Sets of sources are in the table of traffic. Where that table is of an
 * older agent, or has been deleted, policy must not wait for it: without the sources, routes decide which packets are
 * spoofed, and the reconcile that repairs the table puts the sources in afterwards.
 * @throws what the engine throws
 */
export async function exchangePolicy(
  { engine, log }: { readonly engine: Pick<Engine, 'change'>; readonly log: Log },
  { add, remove }: RenderedDelta,
  signal: AbortSignal,
): Promise<void> {
  try {
    await engine.change({ owner: policyOwner }, { replace: add, remove }, { signal });
  } catch (err) {
    const isPolicy = (resource: Resource): boolean => !isSource(resource);
    if (signal.aborted || [...add, ...remove].every(isPolicy)) throw err;
    const alone = { replace: add.filter(isPolicy), remove: remove.filter(isPolicy) };
    await engine.change({ owner: policyOwner }, alone, { signal });
    log.warn({ err }, 'policy is in force; sources of pods are looked up in the routes until a reconcile');
  }
}
