import { hasCode } from '@podwire/linux';
import { NetlinkBatchError, type NetlinkRequest } from '@podwire/netlink';
import { type ElementChange, NftablesError } from '@podwire/nftables';
import { encodeCreation, encodeRemoval, encodeReplacement } from './providers/index.js';
import { clearDoomedName } from './doom.js';
import type { Failure } from './failure.js';
import type { ConntrackReset, Ifb, NftElement, NftTable, Resource, Sysctl, Veth } from './resource.js';
import type { Session } from './session.js';
import type { Step } from './steps.js';

/** `create`: it must not be there. `replace`: what is there gives way. */
export type Mode = 'create' | 'replace';

/** Makes everything a step lists and says what failed. The channel decides how resources of a kind travel. */
export async function runStep(
  step: Step,
  session: Session,
  signal: AbortSignal,
  mode: Mode,
): Promise<Failure[]> {
  const { nftables } = session.kernel;
  switch (step.channel) {
    case 'link':
      return mode === 'create' ? createLinks(step, session) : sendTogether(step, session, encodeReplacement);
    case 'route':
      return sendTogether(step, session, mode === 'create' ? encodeCreation : encodeReplacement);
    case 'parameter':
      return each(step, (resource) => setParameter(resource as Sysctl, session));
    case 'elements':
      return changeElements(step, session, mode === 'create' ? 'add' : 'replace');
    case 'ruleset':
      return await eachAsync(step, async (table) => nftables.applyTable(table as NftTable, { signal }));
    case 'conntrack':
      return await resetConntrack(step, session, signal);
  }
}

/** The same, backwards. Absent things are no failures. */
export async function undoStep(step: Step, session: Session, signal: AbortSignal): Promise<Failure[]> {
  const { nftables } = session.kernel;
  switch (step.channel) {
    case 'link': // links are doomed together, see doom.ts
    case 'parameter': // parameters are never set back: nobody knows who else has come to rely on them
      return [];
    case 'route':
      return sendTogether(step, session, encodeRemoval);
    case 'elements':
      return changeElements(step, session, 'destroy');
    case 'ruleset':
      return each(step, (table) =>
        nftables.deleteTable((table as NftTable).family, (table as NftTable).name),
      );
    case 'conntrack':
      return await resetConntrack(step, session, signal);
  }
}

/** One transaction: when one element is refused, none is changed, and what has no failure of its own shares the first one. */
function changeElements(step: Step, session: Session, op: ElementChange['op']): Failure[] {
  const elements = step.resources as readonly NftElement[];
  const changes = elements.map(({ kind: _, ...element }): ElementChange => ({ op, ...element }));
  try {
    session.kernel.nftables.change(changes);
    return [];
  } catch (error) {
    const own = error instanceof NftablesError ? failuresByIndex(error) : new Map<number, NftablesError>();
    const [first = error] = own.values();
    return elements.map((resource, index) => ({ resource, error: own.get(index) ?? first }));
  }
}

function failuresByIndex({ failures }: NftablesError): Map<number, NftablesError> {
  return new Map(
    failures.flatMap((failure) =>
      failure.index === undefined ? [] : [[failure.index, new NftablesError([failure])]],
    ),
  );
}

async function resetConntrack(step: Step, session: Session, signal: AbortSignal): Promise<Failure[]> {
  const filters = (step.resources as readonly ConntrackReset[]).map(({ kind: _, ...filter }) => filter);
  try {
    await session.kernel.conntrack.deleteConntrack(filters, { signal });
    return [];
  } catch (error) {
    return step.resources.map((resource) => ({ resource, error }));
  }
}

/** A name may still be held by a doomed link: the same pod's last one, which then gives it up. */
function createLinks(step: Step, session: Session): Failure[] {
  const failures = sendTogether(step, session, encodeCreation);
  const inTheWay = failures.filter(({ error }) => hasCode(error, 'EEXIST')).map(({ resource }) => resource);
  const cleared = inTheWay.filter((resource) => clearDoomedName(session, resource as Veth | Ifb));
  if (cleared.length === 0) return failures;
  const others = failures.filter(({ resource }) => !cleared.includes(resource));
  return [...others, ...sendTogether({ ...step, resources: cleared }, session, encodeCreation)];
}

type Encode = (resource: Resource, session: Session) => readonly NetlinkRequest[];

/**
 * One `sendmsg` for the whole step; every request knows the resource it came from. When one cannot even be put into
 * words (its link is not there, its namespace is gone) the others are still sent for a removal, but nothing is made.
 */
function sendTogether(step: Step, session: Session, encode: Encode): Failure[] {
  const failures: Failure[] = [];
  const requests: NetlinkRequest[] = [];
  const origins: Resource[] = [];
  for (const resource of step.resources) {
    try {
      for (const request of encode(resource, session)) {
        requests.push(request);
        origins.push(resource);
      }
    } catch (error) {
      if (encode !== encodeRemoval) return step.resources.map((other) => ({ resource: other, error }));
      failures.push({ resource, error });
    }
  }
  return requests.length === 0 ? failures : [...failures, ...send(step, session, requests, origins)];
}

function send(step: Step, session: Session, requests: NetlinkRequest[], origins: Resource[]): Failure[] {
  try {
    const replies = session.namespace(step.side).route.request(requests);
    replies.forEach((messages, index) => session.learn(origins[index]!, messages));
    return [];
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) return together(step, () => raise(error));
    return error.failures.map((failure) => ({
      resource: origins[failure.index]!,
      error: new NetlinkBatchError([failure]),
    }));
  }
}

function raise(error: unknown): never {
  throw error;
}

function setParameter(parameter: Sysctl, session: Session): void {
  const { parameters } = session.namespace(parameter.in);
  if (parameter.optional && parameters.read(parameter.key) === undefined) return;
  parameters.write(parameter.key, parameter.value);
}

/** All of the step's resources share one fate. */
function together(step: Step, work: () => void): Failure[] {
  try {
    work();
    return [];
  } catch (error) {
    return step.resources.map((resource) => ({ resource, error }));
  }
}

function each(step: Step, work: (resource: Resource) => void): Failure[] {
  return step.resources.flatMap((resource) => {
    try {
      work(resource);
      return [];
    } catch (error) {
      return [{ resource, error }];
    }
  });
}

async function eachAsync(step: Step, work: (resource: Resource) => Promise<unknown>): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const resource of step.resources) {
    await work(resource).catch((error: unknown) => failures.push({ resource, error }));
  }
  return failures;
}
