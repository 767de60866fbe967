/**
 * A URL without user and password, for messages. A text that is not a URL loses everything before its last `@`: it may have been
 * meant as one with a password.
 */
export function redactUrl(text: string): string {
  if (!text.includes('@')) return text;
  if (!URL.canParse(text)) return text.replace(/^.*@/s, '…@');
  const url = new URL(text);
  [url.username, url.password] = ['', ''];
  return url.href;
}
