import { parseAddress, parseInterfaceAddress } from '@podwire/addresses';

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
/** ADDRESS/LENGTH, with bits beyond the length. */
export const isInterfaceAddressText = reads(parseInterfaceAddress);
