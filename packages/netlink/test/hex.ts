/** Bytes written as hexadecimal, with comments from # to the end of the line. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/#.*$/gm, '').replace(/\s+/g, ''), 'hex');
}
