/** Pods of a URL, asked for again and again. */
import type { Dispatcher } from 'undici';
import { compact } from '@podwire/platform';
import type { Clock, PodSource, Snapshot, SourceProblem } from '../contract.js';
import { type ManifestContent, readManifests } from '@podwire/pod-spec';
import { fetchManifest, type ManifestAnswer, splitUrl } from './fetch-manifest.js';
import { isSameSnapshot } from './unite-contents.js';

export interface HttpSourceOptions {
  /** `http` or `https`; a user and password in it are sent as basic authorization and never shown. */
  readonly url: string;
  /** Sent as they are, a header with several values several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Name of the node. */
  readonly node: string;
  /** `node` appends `-NODE` to the names of pods, as kubelet does; default `none`. */
  readonly nameSuffix?: 'node' | 'none';
  readonly clock: Clock;
  /** Milliseconds from the end of one request to the next; 20000. */
  readonly pollEvery?: number;
  /** Milliseconds that a whole answer may take; 10000. */
  readonly timeout?: number;
  /** Other than undici's own. */
  readonly dispatcher?: Dispatcher;
}

const defaultPoll = 20_000;
const defaultTimeout = 10_000;

/** @throws TypeError for a text that is no URL, at once */
export function createHttpSource(options: HttpSourceOptions): PodSource {
  const { clock, pollEvery = defaultPoll, timeout = defaultTimeout } = options;
  const target = splitUrl(options.url, options.headers ?? {});
  return {
    name: 'http',
    async run(emit, signal) {
      const reader = createReader(options, target.shown);
      try {
        while (!signal.aborted) {
          const request = {
            ...target,
            ...reader.condition(),
            clock,
            timeout,
            dispatcher: options.dispatcher,
          };
          const answer = await fetchManifest(request, signal);
          const snapshot = reader.read(answer);
          if (snapshot !== undefined) emit(snapshot);
          await clock.sleep(pollEvery, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

interface AnswerReader {
  /** The condition of a request, so that the server does not send the same content again. */
  condition(): { readonly etag?: string };
  /** @returns undefined when nothing is new */
  read(answer: ManifestAnswer): Snapshot | undefined;
}

/** The latest answer that could be used. A bad one is not remembered, or it would be complained about only once. */
interface Known {
  readonly body: string;
  readonly etag?: string;
  readonly content: ManifestContent;
}

function createReader({ node, nameSuffix = 'none', clock }: HttpSourceOptions, origin: string): AnswerReader {
  let known: Known | undefined;
  let latest: Snapshot | undefined;
  const problem = (message: string): SourceProblem => ({ source: 'http', origin, message });
  const keep = (problems: readonly SourceProblem[]): Snapshot =>
    known === undefined
      ? { pods: [], configMaps: [], problems, incomplete: true }
      : { pods: known.content.pods, configMaps: known.content.configMaps, problems };

  const understand = (answer: ManifestAnswer): Snapshot => {
    if (answer.kind === 'failed') return keep([problem(answer.reason)]);
    if (answer.kind === 'unchanged') return keep([]);
    if (answer.body === '') {
      // The server has spoken: it wants no pods, though an empty list would say so more clearly.
      if (known?.body !== '') known = { body: '', content: { pods: [], configMaps: [], problems: [] } };
      return keep([problem('answered with nothing, which counts as no pods')]);
    }
    if (answer.body === known?.body) return keep([]);
    const content = readManifests(answer.body, { source: 'http', origin, node, nameSuffix });
    if (content.problems.length > 0) return keep(content.problems);
    known = { body: answer.body, content, ...compact({ etag: answer.etag }) };
    return keep([]);
  };

  return {
    condition: () => (known?.etag === undefined ? {} : { etag: known.etag }),
    read(answer) {
      const snapshot = understand(answer);
      if (latest !== undefined && isSameSnapshot(latest, snapshot)) return undefined;
      const isNew = latest !== undefined && latest.pods !== snapshot.pods;
      latest = snapshot;
      return isNew ? { ...snapshot, causedAt: clock.now() } : snapshot;
    },
  };
}
