const pattern = /^[0-9a-f]{2}(:[0-9a-f]{2})*$/i;

/** Bytes of `aa:bb:cc:dd:ee:ff`. @throws RangeError naming the text. */
export function encodeMac(text: string): Uint8Array {
  if (!pattern.test(text)) throw new RangeError(`not a link-layer address: ${JSON.stringify(text)}`);
  const bytes = new Uint8Array((text.length + 1) / 3);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(3 * i, 3 * i + 2), 16);
  return bytes;
}

/** `aa:bb:cc:dd:ee:ff`; other link types have other lengths. */
export function decodeMac(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += (text === '' ? '' : ':') + hex[byte]!;
  return text;
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
