/** A random MAC address: locally administered, of one station (IEEE 802: bit 1 of the first byte set, bit 0 clear). */
export function makeMac(random: (bytes: number) => Uint8Array): string {
  const bytes = Buffer.from(random(6));
  bytes[0] = (bytes[0]! & 0xfc) | 0x02;
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}
