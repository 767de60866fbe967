/** Meaning of the words behind `down`: manifests and URLs, or pods. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError, redactUrl } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import { suggestWord } from '@podwire/platform';
import type { PodView } from '@podwire/podlet';
import { isOf } from './follow.js';
import { choosePod, fullName, type PodsView } from './names.js';

/** Places of manifests. */
export interface Sources {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

/** Sources and pods to take down. */
export interface Meant extends Sources {
  readonly pods: readonly PodView[];
}

interface Known {
  readonly places: Sources;
  readonly pods: readonly PodView[];
}

/**
 * A URL and a place that `up` was given are manifests, also one whose pods are still ending; a name of a pod is that pod; a path
 * that exists is a manifest that does not run.
 * @throws PodwireError POD_UNKNOWN for a word that is none of these, REQUEST_INVALID when several pods are called so
 */
export async function sortWords(
  api: LocalApi,
  words: readonly string[],
  namespace: string | undefined,
): Promise<Meant> {
  const [places, { pods }] = await Promise.all([
    api.get<Sources>('/v1/sources'),
    api.get<PodsView>('/v1/pods'),
  ]);
  const meant = { files: [] as string[], urls: [] as string[], pods: [] as PodView[] };
  for (const word of words) sortWord({ places, pods }, word, namespace, meant);
  return meant;
}

function sortWord(
  known: Known,
  word: string,
  namespace: string | undefined,
  meant: { readonly files: string[]; readonly urls: string[]; readonly pods: PodView[] },
): void {
  const file = path.resolve(word);
  const isPod = word.startsWith('pod/');
  if (isUrl(word)) meant.urls.push(word);
  else if (!isPod && isKnownPlace(known, file)) meant.files.push(file);
  else if (isPod || namesAPod(known.pods, word)) meant.pods.push(choosePod(known.pods, word, namespace));
  else if (fs.existsSync(file)) meant.files.push(file);
  else throw unknownWord(known, word);
}

const isUrl = (word: string): boolean => /^https?:\/\//.test(word);

function isKnownPlace({ places, pods }: Known, file: string): boolean {
  return places.files.includes(file) || pods.some(isOf([file]));
}

function namesAPod(pods: readonly PodView[], word: string): boolean {
  return pods.some((pod) => pod.name === word || fullName(pod) === word);
}

function unknownWord({ places, pods }: Known, word: string): PodwireError {
  const names = pods.flatMap((pod) => [pod.name, fullName(pod)]);
  const manifests = [...places.files.map((file) => path.relative('.', file)), ...places.urls.map(redactUrl)];
  const near = suggestWord(word, [...names, ...manifests, ...places.files]);
  const guess = near === undefined ? '' : `; did you mean ${near}?`;
  return new PodwireError('POD_UNKNOWN', `${word} is neither a pod nor a manifest${guess}`);
}
