import { parseAddress, parseInterfaceAddress, parsePrefix } from '@podwire/addresses';

const reads =
  (parse: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };

export const isAddressText = reads(parseAddress);
/** ADDRESS/LENGTH, without bits beyond the length. */
export const isPrefixText = reads(parsePrefix);
/** ADDRESS/LENGTH, with bits beyond the length. */
export const isInterfaceAddressText = reads(parseInterfaceAddress);
