/** Eight hexadecimal digits. */
export function randomSuffix(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(4)).toString('hex');
}
