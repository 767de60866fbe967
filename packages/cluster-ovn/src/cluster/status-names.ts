/** Names in the status of objects. Pure. */

/** Names that a status has at most: with more its object could not be read. */
const mostNames = 10_000;

export const listNames = (all: readonly { readonly name: string }[]): string[] =>
  all
    .map(({ name }) => name)
    .toSorted()
    .slice(0, mostNames);
