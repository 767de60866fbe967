/** Steps on one bridge: one bundle, and the meters around it. */
import { type MeterMod, type RequestOptions, type SwitchConnection, SwitchError } from '@podwire/openflow';
import { compact } from '@podwire/platform';
import { isCut, isNoBridge, silentError } from './errors.js';
import type { BridgeLink } from './link.js';
import {
  areForeseen,
  findObstacles,
  needsLook,
  type Plan,
  planChanges,
  type Planned,
  type Step,
  type StepFailure,
} from './plan.js';
import { lookAt, type Needs, type View, viewOf } from './view.js';

const ATTEMPTS = 2;

const nothing: View = viewOf([]);

export interface CarryOutOptions {
  readonly signal: AbortSignal;
  /** For a bridge that is not there yet. */
  readonly waits?: boolean;
  /** Nothing is in force before this resolves. */
  readonly hold?: Promise<void>;
  /** Called when the switch does what is asked for before anything that comes later; not always before the end. */
  readonly onSent?: () => void;
}

/**
 * All or nothing. Where the switch ended the connection it is done again: an unfinished bundle has gone with it.
 * @throws PodwireError BACKEND_SILENT where the outcome is unknown; the signal's reason
 */
export async function carryOut<S>(
  link: BridgeLink,
  steps: readonly Step<S>[],
  { signal, waits, hold, onSent }: CarryOutOptions,
): Promise<readonly StepFailure<S>[]> {
  let wanted = steps;
  let isSent = false;
  for (let attempt = 1; ; attempt++) {
    const work = async (connection: SwitchConnection, either: AbortSignal) => {
      const look = (): Promise<View> => lookAt(connection, link.bridge, needsOf(wanted), either);
      if (areForeseen(wanted)) {
        isSent = true;
        return applyForeseen(connection, wanted, { look, hold, onSent, signal: either });
      }
      const plan = planChanges(await look(), wanted);
      if (plan.failures.length > 0) return plan.failures;
      await hold;
      isSent = true;
      return apply(connection, plan, either);
    };
    try {
      return await link.use(signal, work, waits);
    } catch (error) {
      signal.throwIfAborted();
      if (isCut(error) && attempt < ATTEMPTS) wanted = wanted.map(withoutConflict);
      else if (isSent && !isNoBridge(error)) throw silentError(link.bridge, error);
      else return unreachable(link, wanted, error);
    }
  }
}

/** An item may have come with a bundle whose answer is missing. */
const withoutConflict = <S>(step: Step<S>): Step<S> =>
  step.action === 'add' ? { ...step, action: 'replace' } : step;

/** Nothing was sent, or what came has gone with the switch. Without a bridge nothing is left to remove. */
function unreachable<S>(
  { bridge }: BridgeLink,
  steps: readonly Step<S>[],
  cause: unknown,
): readonly StepFailure<S>[] {
  const failing = isNoBridge(cause) ? steps.filter(({ action }) => action !== 'remove') : steps;
  const error = silentError(bridge, cause);
  return failing.map((step) => ({ step, error }));
}

const needsOf = (steps: readonly Step[]): Needs => ({
  items: steps.filter(needsLook).map(({ item }) => item),
  usersOf: steps.flatMap(({ action, item }) =>
    action === 'remove' && item.sort === 'group' ? [item.data.id] : [],
  ),
});

interface ForeseenOptions {
  readonly look: () => Promise<View>;
  readonly hold: Promise<void> | undefined;
  readonly onSent: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** Sends the bundle while it looks for obstacles, and commits it where there are none. */
async function applyForeseen<S>(
  connection: SwitchConnection,
  steps: readonly Step<S>[],
  { look, hold, onSent, signal }: ForeseenOptions,
): Promise<readonly StepFailure<S>[]> {
  const { bundle } = planChanges(nothing, steps);
  let obstacles: readonly StepFailure<S>[] = [];
  const guard = async (): Promise<void> => {
    obstacles = findObstacles(await look(), steps);
    if (obstacles.length > 0) throw obstacles[0]!.error;
    await hold;
  };
  // Flows that only go: no switch refuses that, and foreign ones stay by their cookies.
  const how = steps.some(needsLook) ? { guard } : compact({ eager: true, onSent });
  try {
    return await refusalsOf(bundle, (changes) => connection.applyBundle(changes, { signal, ...how }));
  } catch (error) {
    if (obstacles.length === 0) throw error;
    return obstacles;
  }
}

/** Meters are in no bundle: those that came or changed are taken back where the bundle is refused. */
async function apply<S>(
  connection: SwitchConnection,
  { metersFirst, bundle, metersLast, metersBack }: Plan<S>,
  signal: AbortSignal,
): Promise<readonly StepFailure<S>[]> {
  const options = { signal };
  const wrong = await refusalsOf(metersFirst, (requests) => connection.send(requests, options));
  const refused =
    wrong.length > 0
      ? wrong
      : await refusalsOf(bundle, (changes) => connection.applyBundle(changes, options));
  if (refused.length === 0) return refusalsOf(metersLast, (requests) => connection.send(requests, options));
  await takeBack(connection, metersBack, options);
  return refused;
}

/** A change that was refused cannot be taken back; what else stays, the next reconcile finds. */
async function takeBack(
  connection: SwitchConnection,
  requests: readonly MeterMod[],
  options: RequestOptions,
): Promise<void> {
  if (requests.length === 0) return;
  await connection.send(requests, options).catch((error: unknown) => {
    if (!(error instanceof SwitchError)) throw error;
  });
}

/** The steps whose requests were refused; all where the switch refused them as one. */
async function refusalsOf<S, Request>(
  planned: readonly Planned<S, Request>[],
  send: (requests: readonly Request[]) => Promise<void>,
): Promise<readonly StepFailure<S>[]> {
  if (planned.length === 0) return [];
  try {
    await send(planned.map(({ request }) => request));
    return [];
  } catch (error) {
    if (!(error instanceof SwitchError)) throw error;
    const refused = error.failures.flatMap(({ index }) => planned[index] ?? []);
    return (refused.length === 0 ? planned : refused).map(({ step }) => ({ step, error }));
  }
}
