export interface LastGood {
  /** Of a file, or of each file of a directory: file → text. */
  load(target: string): ReadonlyMap<string, string>;
  /** @throws what kept it from being written */
  save(file: string, text: string): void;
  remove(file: string): void;
}
/** @param directory of its own, for root alone: manifests may hold passwords */
export declare function createLastGood(directory: string): LastGood;
