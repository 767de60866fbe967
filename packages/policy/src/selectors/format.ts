import type { Selector } from './contract.js';
import { simplifySelector } from './simplify.js';
import { writeSelector } from './write.js';

/** One text for selectors that differ in order, repetition or nesting only; it can be parsed again. For keys of maps and for people. */
export const formatSelector = (selector: Selector): string => writeSelector(simplifySelector(selector));
