/**
 * A URL as people may see it: without user and password. A text that is no URL, but may have been meant as one with a password in it,
 * loses all that stands before its last `@`.
 */
export function redactUrl(text: string): string {
  if (!text.includes('@')) return text;
  if (!URL.canParse(text)) return text.replace(/^.*@/s, '…@');
  const url = new URL(text);
  [url.username, url.password] = ['', ''];
  return url.href;
}
