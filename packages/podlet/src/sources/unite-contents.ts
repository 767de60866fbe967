/** Several files as one set of pods. */
import { isDeepStrictEqual } from 'node:util';
import type { Snapshot, SourceProblem } from '../contract.js';
import { type ConfigMap, type Pod, podName } from '@podwire/pod-spec';
import { type FileState, problemOf } from './file-state.js';

/**
 * A pod or ConfigMap that stands in two files is taken from the first one, so that a copy beside a manifest (`web.yaml.bak`) changes
 * nothing. Files that are gone come last.
 */
export function uniteContents(states: readonly FileState[]): {
  pods: Pod[];
  configMaps: ConfigMap[];
  problems: SourceProblem[];
} {
  const problems: SourceProblem[] = [];
  const pods = takeFirst(states, ({ content }) => content?.pods ?? [], podName, 'pod', problems);
  const nameOf = ({ namespace, name }: ConfigMap): string => `${namespace}/${name}`;
  const configMaps = takeFirst(
    states,
    ({ content }) => content?.configMaps ?? [],
    nameOf,
    'ConfigMap',
    problems,
  );
  return { pods, configMaps, problems };
}

function takeFirst<T>(
  states: readonly FileState[],
  objectsOf: (state: FileState) => readonly T[],
  nameOf: (object: T) => string,
  kind: string,
  problems: SourceProblem[],
): T[] {
  const taken = new Map<string, { readonly object: T; readonly state: FileState }>();
  for (const state of states) {
    for (const object of objectsOf(state)) {
      const name = nameOf(object);
      const first = taken.get(name)?.state;
      if (first === undefined) taken.set(name, { object, state });
      else if (state.goneSince === undefined) {
        const where = first === state ? 'a second time in this file' : `in ${first.file} too`;
        problems.push(problemOf(state.file, `${kind} ${name} stands ${where}; the first one is used`));
      }
    }
  }
  return [...taken.values()].map(({ object }) => object);
}

/** True if nothing has changed. Objects are the same ones as long as their file is. */
export function isSameSnapshot(a: Snapshot, b: Snapshot): boolean {
  return (
    isSameList(a.pods, b.pods) &&
    isSameList(a.configMaps ?? [], b.configMaps ?? []) &&
    a.incomplete === b.incomplete &&
    isDeepStrictEqual(a.problems, b.problems)
  );
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
