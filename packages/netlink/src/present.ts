/** An object type whose `undefined` members are absent instead. */
export type Present<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without what is undefined, so that decoded objects compare equal to ones written by hand. */
export function present<T extends object>(object: T): Present<T> {
  const copy: Partial<T> = {};
  // Not `delete` on the original: that would turn every decoded object into a dictionary.
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy as unknown as Present<T>;
}
