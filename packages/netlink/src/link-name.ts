/** Bytes of a name without its closing NUL (IFNAMSIZ - 1). */
const NAME_BYTES = 15;

/**
 * The name as it is. The kernel calls a longer one ERANGE, "Attribute failed policy validation", and does not say which.
 * @throws RangeError naming it
 */
export function checkLinkName(name: string): string {
  const bytes = Buffer.byteLength(name);
  if (bytes > NAME_BYTES)
    throw new RangeError(
      `the link name ${JSON.stringify(name)} has ${bytes} bytes; Linux allows ${NAME_BYTES}`,
    );
  return name;
}
