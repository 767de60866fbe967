/** An object type whose members that may be undefined are optional instead, as `exactOptionalPropertyTypes` wants them. */
export type Compact<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without the members that are undefined. */
export function compact<T extends object>(object: T): Compact<T> {
  const copy: Partial<T> = {};
  // Not `delete` on the original: V8 would turn it into a dictionary.
  for (const key in object) if (object[key] !== undefined) copy[key] = object[key];
  return copy as unknown as Compact<T>;
}
