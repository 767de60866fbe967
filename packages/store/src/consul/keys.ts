/**
 * Our keys as Consul takes them. In recent versions its KV endpoint refuses a leading slash, everything but letters, digits and `,-_./`,
 * and keys that end like names of files (`.com`, `.sh`: so does `node.example.com`). Therefore:
 *
 * - the leading slash is left out, and a key without one begins with `_/`;
 * - a dot is a comma (`10.244.0.0-26` is `10,244,0,0-26`);
 * - everything else that is not allowed, the comma and `_` are `_` and two hexadecimal digits (`:` is `_3A`).
 *
 * A beginning of a key is also a beginning of its translation, so rules of access can name `podwire/`.
 */

const escape = (character: string): string =>
  `_${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

const translate = (text: string): string => text.replaceAll(/[^A-Za-z0-9./-]/g, escape).replaceAll('.', ',');

const restore = (text: string): string =>
  text
    .replaceAll(',', '.')
    .replaceAll(/_([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

export function toConsulKey(key: string): string {
  return key.startsWith('/') ? translate(key.slice(1)) : `_/${translate(key)}`;
}

/** The common beginning of all keys below a prefix. Other keys may share it: filter by the prefix itself. */
export function toConsulPrefix(prefix: string): string {
  return prefix === '' ? '' : toConsulKey(prefix);
}

/** Undefined: it is none of ours. */
export function fromConsulKey(key: string): string | undefined {
  const plain = key.startsWith('_/') ? restore(key.slice(2)) : `/${restore(key)}`;
  return toConsulKey(plain) === key ? plain : undefined;
}
