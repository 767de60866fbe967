/** The instruction for podwire-hold: strings that each end with NUL, a key and its values (native/spec.c has the keys). */
export type Instruction = readonly (readonly [
  key: string,
  ...values: readonly (string | number | bigint)[],
])[];

/** @throws RangeError for a string with a NUL, which would be two */
export function encodeInstruction(instruction: Instruction): Buffer {
  const parts: string[] = [];
  for (const value of instruction.flat()) {
    const text = String(value);
    if (text.includes('\0')) throw new RangeError(`a string with a NUL byte: ${JSON.stringify(text)}`);
    parts.push(text, '\0');
  }
  return Buffer.from(parts.join(''), 'utf8');
}
