import { expect } from 'vitest';

/** vitest's matchers are `any`; as `unknown` they fit everywhere and hide nothing. */
export const containing = (text: string): unknown => expect.stringContaining(text);
export const matching = (pattern: RegExp | string): unknown => expect.stringMatching(pattern);
export const anyText: unknown = expect.any(String);
