import { hasCode } from '@podwire/linux';
import type { EngineContext } from './context.js';
import type { CallOptions, Change, Drift, Owned } from './engine.js';
import type { Failure } from './failure.js';
import { mend, report } from './mend.js';
import type { Survey } from './observe.js';
import { compareResource } from './providers/index.js';
import { openSession, type Session } from './session.js';
import { channelOf, sideOf } from './steps.js';
import { surveyHost } from './survey.js';
import { driftsIn } from './verify.js';
import { openView } from './view.js';

/** Owners that are dealt with in one go, or one that stands alone. */
export interface Run {
  readonly owners: readonly Owned[];
  readonly together: boolean;
}

/** Owners in one go: looked at in about a millisecond, made in some ten, and in between the rest of the program gets its turn. */
const RUN = 128;

/** Cuts the list into runs, in order. */
export function splitIntoRuns(desired: readonly Owned[]): Run[] {
  const runs: { owners: Owned[]; together: boolean }[] = [];
  for (const owned of desired) {
    const last = runs.at(-1);
    const together = isPlain(owned);
    if (together && last?.together === true && last.owners.length < RUN) last.owners.push(owned);
    else runs.push({ owners: [owned], together });
  }
  return runs;
}

/** Nothing but entries of the node's tables: none of them can cost another owner anything, or be half there. */
function isPlain({ namespace, resources }: Owned): boolean {
  return (
    namespace === undefined &&
    resources.every((resource) => {
      const channel = channelOf(resource);
      return sideOf(resource) === 'host' && (channel === 'route' || channel === 'elements');
    })
  );
}

/** Looks at all of them and makes good what drifted, in as few calls to the kernel as there are channels. */
export async function repairTogether(
  context: EngineContext,
  owners: readonly Owned[],
  survey: Survey,
  options: CallOptions,
): Promise<Change[]> {
  const session = openSession(context.kernel, owners[0]!);
  try {
    const view = openView(session, survey);
    const found = owners.flatMap(({ owner, resources }) =>
      driftsIn(resources, view).map((drift) => ({ owner, drift })),
    );
    if (found.length === 0) return [];
    const drifts = inChannelOrder(found.map(({ drift }) => drift));
    const failures = withoutOutdated(await mend(context, drifts, session, options), session);
    const failed = new Map(failures.map(({ resource, error }) => [resource, error]));
    return found.map(({ owner, drift }) => report(owner, drift.resource, failed));
  } finally {
    session.close();
  }
}

/** One owner after the other would change the channel with each. */
function inChannelOrder(drifts: readonly Drift[]): Drift[] {
  const isElement = ({ resource }: Drift): boolean => channelOf(resource) === 'elements';
  return [...drifts.filter((drift) => !isElement(drift)), ...drifts.filter(isElement)];
}

/** The survey may be some time old: what others made since is there, and no failure if it is right. */
function withoutOutdated(failures: readonly Failure[], session: Session): readonly Failure[] {
  if (!failures.some(({ error }) => hasCode(error, 'EEXIST'))) return failures;
  const view = openView(session, surveyHost(session.kernel));
  return failures.filter(
    ({ resource, error }) => !hasCode(error, 'EEXIST') || compareResource(resource, view) !== undefined,
  );
}
