import type { Kind, Resource } from './contract.js';
/** All kinds of a program. Its functions need no backend to be open. */
export interface KindRegistry {
    /** @throws RangeError for a resource of a kind that no backend has */
    of(resource: Resource): Kind;
    /** Two resources of one key cannot both be there. */
    readonly keyOf: (resource: Resource) => string;
    /** In a few words: `route 10.244.0.5/32 dev cali0123`. */
    readonly describe: (resource: Resource) => string;
    /** Whether other content of the same key is changed without a gap. */
    readonly canBeReplacedInPlace: (resource: Resource) => boolean;
}
/** @throws RangeError when two kinds have one name */
export declare function createKindRegistry(kinds: readonly Kind[]): KindRegistry;
//# sourceMappingURL=registry.d.ts.map