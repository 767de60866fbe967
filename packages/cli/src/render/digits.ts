/** `65 536`; what has more than twelve digits becomes a power of two or ten: `≈ 1.2e24`. */
export function groupDigits(digits: string): string {
  if (digits.length > 12) return `≈ ${Number(digits).toExponential(1).replace('e+', 'e')}`;
  return digits.replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}
