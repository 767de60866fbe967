/** What keeps a document from being a record, in words; `undefined` when it is one. */
export declare function recordProblem(content: unknown): string | undefined;
//# sourceMappingURL=schema.d.ts.map
