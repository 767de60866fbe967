import { hasCode } from '@podwire/linux';
import { NetlinkBatchError, type NetlinkRequest } from '@podwire/netlink';
import { type ElementChange, type Nftables, NftablesError } from '@podwire/nftables';
import { acceptForwarded, stopAccepting } from './providers/forward-accept.js';
import { compareResource, encodeCreation, encodeRemoval, encodeReplacement } from './providers/index.js';
import { clearDoomedName, deleteOwnTunnel, isOwnLink } from './doom.js';
import type { Failure } from './failure.js';
import { keepOthers } from './last-address.js';
import { encodeClearance, isMisledByOld, isSameRoute } from './providers/routes.js';
import type {
  ConntrackReset,
  IpRoute,
  LinkResource,
  NftElement,
  NftTable,
  Resource,
  Sysctl,
} from './resource.js';
import type { Session } from './session.js';
import type { Step } from './steps.js';
import { openView } from './view.js';

/**
 * `create`: it must not be there, and all of the step or nothing is worth having. `add`, `replace`: of each what can be had; in
 * the place of what is there, for `replace`.
 */
export type Mode = 'create' | 'add' | 'replace';

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
      return mode === 'replace' ? sendEach(step, session, encodeReplacement) : createLinks(step, session);
    case 'route':
      if (mode === 'create') return sendTogether(step, session, encodeCreation);
      // Not everything of a pod is seen: what is missing may be there.
      if (mode === 'replace' || step.side === 'pod') return replaceEntries(step, session);
      return sendEach(step, session, encodeCreation);
    case 'parameter':
      return setParameters(step, session);
    case 'elements':
      if (mode === 'create') return changeElements(step, session, 'add');
      return changeEachElement(step, session, mode);
    case 'ruleset':
      return await eachAsync(step, async (resource) => applyRuleset(resource, nftables, signal));
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
      return removeEntries(step, session);
    case 'elements':
      return changeElements(step, session, 'destroy');
    case 'ruleset':
      return await eachAsync(step, async (resource) => removeRuleset(resource, nftables, signal));
    case 'conntrack':
      return await resetConntrack(step, session, signal);
  }
}

async function applyRuleset(resource: Resource, nftables: Nftables, signal: AbortSignal): Promise<void> {
  if (resource.kind === 'forward-accept') await acceptForwarded(nftables, resource, signal);
  else await nftables.applyTable(resource as NftTable, { signal });
}

async function removeRuleset(resource: Resource, nftables: Nftables, signal: AbortSignal): Promise<void> {
  if (resource.kind === 'forward-accept') return await stopAccepting(nftables, resource, signal);
  nftables.deleteTable((resource as NftTable).family, (resource as NftTable).name);
}

/** Pods lose their addresses with their links; only of a link that stays anything else could go along. */
function removeEntries(step: Step, session: Session): Failure[] {
  const addresses = step.resources.filter((resource) => resource.kind === 'address');
  if (step.side === 'pod' || addresses.length === 0) return sendEach(step, session, encodeRemoval);
  const going = addresses.flatMap(({ link, address }) => {
    const index = indexIfThere(session, link);
    return index === undefined ? [] : [{ link: index, address }];
  });
  const restore = keepOthers(session.kernel.host.route, going, {
    route: (found) =>
      step.resources.some((resource) => resource.kind === 'route' && isSameRoute(resource, found)),
    neighbour: (found) =>
      step.resources.some((resource) => resource.kind === 'neighbour' && resource.address === found.address),
  });
  const failures = sendEach(step, session, encodeRemoval);
  return [...failures, ...together({ ...step, resources: addresses }, restore)];
}

function indexIfThere(session: Session, link: string): number | undefined {
  try {
    return session.indexOf('host', link);
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
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

/** All in one transaction if they will have it, otherwise each in its own. */
function changeEachElement(step: Step, session: Session, op: ElementChange['op']): Failure[] {
  const failures = changeElements(step, session, op);
  if (failures.length === 0 || step.resources.length === 1) return failures;
  return step.resources.flatMap((resource) =>
    changeElements({ ...step, resources: [resource] }, session, op),
  );
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

/**
 * A name may still be held by a doomed link: the same pod's last one, which then gives it up. A tunnel of ours that is another
 * than wanted gives way too, or is changed if that is enough.
 */
function createLinks(step: Step, session: Session): Failure[] {
  const failures = sendTogether(step, session, encodeCreation);
  const inTheWay = failures.filter(({ error }) => hasCode(error, 'EEXIST')).map(({ resource }) => resource);
  const ways = new Map(inTheWay.map((resource) => [resource, clearWay(session, resource as LinkResource)]));
  const again = (way: Way, encode: Encode): Failure[] => {
    const resources = inTheWay.filter((resource) => ways.get(resource) === way);
    return resources.length === 0 ? [] : sendTogether({ ...step, resources }, session, encode);
  };
  const others = failures.filter(({ resource }) => (ways.get(resource) ?? 'taken') === 'taken');
  return [...others, ...again('free', encodeCreation), ...again('changeable', encodeReplacement)];
}

/** What can be done about a name that is taken: nothing, make the link now, or change the one that is there. */
type Way = 'taken' | 'free' | 'changeable';

function clearWay(session: Session, wanted: LinkResource): Way {
  if (clearDoomedName(session, wanted)) return 'free';
  if (wanted.kind !== 'vxlan' || !isOwnLink(session, wanted)) return 'taken';
  const difference = compareResource(wanted, openView(session));
  if (difference === undefined) return 'taken';
  if (typeof difference === 'string') return 'changeable';
  deleteOwnTunnel(session, wanted);
  return 'free';
}

type Encode = (resource: Resource, session: Session) => readonly NetlinkRequest[];

/**
 * One `sendmsg` for the whole step; every request knows the resource it came from. When one cannot even be put into
 * words (its link is not there, its namespace is gone) nothing is sent.
 */
function sendTogether(step: Step, session: Session, encode: Encode): Failure[] {
  const { failures, requests, origins } = encodeStep(step, session, encode);
  const [first] = failures;
  if (first !== undefined) return step.resources.map((resource) => ({ resource, error: first.error }));
  return send(step, session, requests, origins);
}

/** The same, but what can be put into words is sent in any case. */
function sendEach(step: Step, session: Session, encode: Encode): Failure[] {
  const { failures, requests, origins } = encodeStep(step, session, encode);
  return [...failures, ...send(step, session, requests, origins)];
}

/** Each in the place of what is there. Where the old one makes the kernel refuse the new one, it goes first. */
function replaceEntries(step: Step, session: Session): Failure[] {
  const failures = sendEach(step, session, encodeReplacement);
  const misled = failures.filter(isMisledByOld).map(({ resource }) => resource as IpRoute);
  if (misled.length === 0) return failures;
  const again = encodeStep({ ...step, resources: misled }, session, encodeCreation);
  // All of the old ones before any of the new: a gateway may lie in the destination of another.
  const cleared = send(
    step,
    session,
    [...misled.map(encodeClearance), ...again.requests],
    [...misled, ...again.origins],
  );
  const isAbsence = ({ error }: Failure): boolean => hasCode(error, 'ESRCH');
  return [
    ...failures.filter((failure) => !isMisledByOld(failure)),
    ...again.failures,
    ...cleared.filter((failure) => !isAbsence(failure)),
  ];
}

interface EncodedStep {
  readonly requests: NetlinkRequest[];
  /** The resource that the request of the same index comes from. */
  readonly origins: Resource[];
  readonly failures: Failure[];
}

function encodeStep(step: Step, session: Session, encode: Encode): EncodedStep {
  const encoded: EncodedStep = { requests: [], origins: [], failures: [] };
  for (const resource of step.resources) {
    try {
      for (const request of encode(resource, session)) {
        encoded.requests.push(request);
        encoded.origins.push(resource);
      }
    } catch (error) {
      encoded.failures.push({ resource, error });
    }
  }
  return encoded;
}

function send(step: Step, session: Session, requests: NetlinkRequest[], origins: Resource[]): Failure[] {
  if (requests.length === 0) return [];
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

/** In their order, and none behind one that was refused: it may be there for what the next one does. */
function setParameters(step: Step, session: Session): Failure[] {
  for (const [index, resource] of step.resources.entries()) {
    try {
      setParameter(resource as Sysctl, session);
    } catch (error) {
      return step.resources.slice(index).map((left) => ({ resource: left, error }));
    }
  }
  return [];
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

async function eachAsync(step: Step, work: (resource: Resource) => Promise<unknown>): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const resource of step.resources) {
    await work(resource).catch((error: unknown) => failures.push({ resource, error }));
  }
  return failures;
}
