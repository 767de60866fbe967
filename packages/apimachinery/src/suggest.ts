import { suggestWord } from '@podwire/platform';

/** ` (did you mean hostPort?)`, or nothing when no known word is near. */
export function suggest(word: string, known: readonly string[]): string {
  const near = suggestWord(word, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}
