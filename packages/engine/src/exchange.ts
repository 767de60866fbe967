import { type EngineContext, startTimer, withSessions } from './call.js';
import type { OwnerId, Resource, Session } from './contract.js';
import type { CallOptions, Exchange } from './engine.js';
import { refusal, throwIfExpired } from './refusal.js';

/** Adds and removes in one transaction of a backend; see `Engine.exchange`. */
export async function exchangeResources(
  context: EngineContext,
  owner: OwnerId,
  change: Exchange,
  options: CallOptions,
): Promise<void> {
  const { add, remove } = withoutReplaced(context, change);
  const resources = [...add, ...remove];
  const backend = backendOf(context, resources);
  if (backend === undefined) return;
  await withSessions(context, { owner, resources }, async (sessions) => {
    const session = sessions.of(backend);
    const exchange = exchangeOf(session, backend);
    const [added, removed] = (['apply', 'remove'] as const).map((action) =>
      startTimer(context.now, action, options.trace),
    );
    context.faults.reach(`exchange:begin:${resources[0]!.kind}`);
    throwIfExpired(context, options.signal, resources[0]);
    const failures = await exchange(add, remove, options);
    if (failures.length > 0) throw refusal(context, owner, failures);
    if (add.length > 0) added!.lap(0, add);
    if (remove.length > 0) removed!.lap(0, remove);
    context.faults.reach('exchange:end');
  });
}

function exchangeOf(session: Session, backend: string): NonNullable<Session['exchange']> {
  if (session.exchange === undefined)
    throw new RangeError(`${backend} cannot exchange resources in one call`);
  return session.exchange.bind(session);
}

/** An added resource replaces the one with its key: that one need not be removed. */
function withoutReplaced({ kinds }: EngineContext, { add, remove }: Exchange): Exchange {
  const added = new Set(add.map(kinds.keyOf));
  return { add, remove: remove.filter((resource) => !added.has(kinds.keyOf(resource))) };
}

/** @throws RangeError when there is more than one: no transaction spans two */
function backendOf({ kinds }: EngineContext, resources: readonly Resource[]): string | undefined {
  const [backend, ...others] = new Set(resources.map((resource) => kinds.of(resource).backend));
  if (others.length > 0) throw new RangeError(`no transaction spans ${[backend, ...others].join(' and ')}`);
  return backend;
}
