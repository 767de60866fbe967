import { CniError, errorCodes } from './error.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
/** The longest name that a file system takes, in bytes; container ids and network names become parts of file names. */
const MAX_NAME_BYTES = 255;
/** IFNAMSIZ is 16 with the terminating zero byte. */
const MAX_INTERFACE_BYTES = 15;

/**
 * A container id: a letter or digit, then letters, digits, `_`, `.`, `-`; at most 255 bytes
 * (specification, section 2, "Parameters"; the length is ours).
 * @throws CniError code 3 when empty, code 4 when malformed; the codes that Go's libraries use.
 */
export function validateContainerId(id: string): void {
  if (id === '') throw new CniError(errorCodes.unknownContainer, 'the container id is empty');
  if (!NAME.test(id) || id.length > MAX_NAME_BYTES) {
    throw new CniError(errorCodes.invalidEnvironment, `the container id ${quote(id)} is malformed`, {
      details: `want a letter or digit, then letters, digits, "_", ".", "-"; at most ${MAX_NAME_BYTES} characters`,
    });
  }
}

/**
 * A network name, by the same rule (section 1, "Configuration format", `name`).
 * @throws CniError code 7.
 */
export function validateNetworkName(name: string): void {
  if (name === '') throw new CniError(errorCodes.invalidNetworkConfig, 'the network name is missing');
  if (!NAME.test(name) || name.length > MAX_NAME_BYTES) {
    throw new CniError(errorCodes.invalidNetworkConfig, `the network name ${quote(name)} is malformed`, {
      details: `want a letter or digit, then letters, digits, "_", ".", "-"; at most ${MAX_NAME_BYTES} characters`,
    });
  }
}

/**
 * An interface name as the kernel takes it (`dev_valid_name`): 1 to 15 bytes, not `.` or `..`, no `/`, `:` or space.
 * @throws CniError code 4.
 */
export function validateInterfaceName(name: string): void {
  const problem = interfaceNameProblem(name);
  if (problem === undefined) return;
  throw new CniError(errorCodes.invalidEnvironment, `the interface name ${quote(name)} ${problem}`);
}

function interfaceNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_INTERFACE_BYTES) return `is longer than ${MAX_INTERFACE_BYTES} bytes`;
  if (name === '.' || name === '..') return 'is a directory';
  // eslint-disable-next-line no-control-regex -- a zero byte would end the name for the kernel; \s lacks NEL
  if (/[/:\s\u0000\u0085]/.test(name)) return 'contains a slash, a colon or white space';
  return undefined;
}

/**
 * A plugin's `type`: the name of a file to look for, so no path (section 1, "Plugin configuration objects").
 * @throws CniError code 7.
 */
export function validatePluginType(type: string): void {
  // eslint-disable-next-line no-control-regex -- a zero byte would end the path for the kernel
  if (type !== '' && type !== '.' && type !== '..' && !/[/\\\u0000]/.test(type)) return;
  throw new CniError(errorCodes.invalidNetworkConfig, `the plugin type ${quote(type)} is no file name`);
}

/** Enough of a bad value to recognise it; it may be long and hold anything. */
function quote(value: string): string {
  return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
}
