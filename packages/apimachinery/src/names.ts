/** Names of Kubernetes objects and their parts (RFC 1123, RFC 6335 and the API's own "qualified names"). */

export interface NameRule {
  readonly pattern: RegExp;
  readonly longest: number;
  /** After "must be made of". */
  readonly words: string;
}

const ends = 'with a letter or digit at both ends';

export const labelRule: NameRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  longest: 63,
  words: `small letters, digits and - (at most 63), ${ends}`,
};

export const subdomainRule: NameRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  words: `small letters, digits, - and . (at most 253), ${ends}`,
};

/** It must fit between `=` and `;` of CNI_ARGS, and be one part of a path. */
export const uidRule: NameRule = {
  pattern: /^[\w][\w.:-]*$/,
  longest: 253,
  words: 'letters, digits and _ . : -',
};

/** Names of ports (RFC 6335, section 5.1). */
export const portNameRule: NameRule = {
  pattern: /^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  longest: 15,
  words: `small letters, digits and single - (at most 15, one letter at least), ${ends}`,
};

/** As Kubernetes has it since 1.34; before, a name could not begin with a digit. */
export const environmentRule: NameRule = {
  pattern: /^[ -<>-~]+$/,
  longest: 4096,
  words: 'printable characters of ASCII but =',
};

export const labelValueRule: NameRule = {
  pattern: /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  longest: 63,
  words: `letters, digits and - _ . (at most 63), ${ends}`,
};

export const configKeyRule: NameRule = {
  pattern: /^(?!\.{1,2}$|\.\.)[-._a-zA-Z0-9]+$/,
  longest: 253,
  words: 'letters, digits and - _ . (at most 253)',
};

/** A name in a resolver's search list: underscores occur there, and a dot may stand at the end or alone. */
export const searchRule: NameRule = {
  pattern: /^(\.|[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*\.?)$/,
  longest: 254,
  words: 'small letters, digits, - _ and .',
};

/** Parts are joined by dots or slashes, as sysctl(8) takes both. */
export const sysctlRule: NameRule = {
  pattern: /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/,
  longest: 253,
  words: 'small letters, digits, - and _ in parts joined by . or /',
};

export const headerRule: NameRule = {
  pattern: /^[-A-Za-z0-9]+$/,
  longest: 4096,
  words: 'letters, digits and -',
};

/** `example.com/name` or `name`: keys of labels and annotations. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split('/');
  const own = parts.at(-1)!;
  const prefix = parts.length > 1 ? parts[0]! : undefined;
  const hasOwn = own.length <= 63 && /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(own);
  const hasPrefix =
    prefix === undefined || (prefix.length <= subdomainRule.longest && subdomainRule.pattern.test(prefix));
  return parts.length <= 2 && hasOwn && hasPrefix;
}

/** A value of a label may be empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= labelValueRule.longest && labelValueRule.pattern.test(text);
}

/** Of an object, a node for instance. */
export function isLabel(key: string, value: string): boolean {
  return isQualifiedName(key) && isLabelValue(value);
}
