import { OvsdbError } from '../errors.js';
import { parseSchema } from '../parse-schema.js';
import { generateTypes } from './types.js';

export interface GeneratorIo {
  readonly readFile: (file: string) => Promise<string>;
  readonly writeOutput: (text: string) => void;
  readonly writeError: (text: string) => void;
}

const usage = `Usage: podwire-ovsdb-types SCHEMA.ovsschema > types.ts

Writes TypeScript types of a database for @podwire/ovsdb. Open vSwitch's schemas are in /usr/share/openvswitch and
/usr/share/ovn; \`ovsdb-client get-schema\` asks a server for its own.
`;

/** @returns the exit code: 0, 1 for a schema that cannot be read, 2 for a faulty command line */
export async function runGenerator(
  argv: readonly string[],
  { readFile, writeOutput, writeError }: GeneratorIo,
): Promise<number> {
  const [file, ...others] = argv;
  if (file === '--help' || file === '-h') {
    writeOutput(usage);
    return 0;
  }
  if (file === undefined || others.length > 0 || file.startsWith('-')) {
    writeError(usage);
    return 2;
  }
  try {
    writeOutput(generateTypes(parseSchema(JSON.parse(await readFile(file)))));
    return 0;
  } catch (error) {
    if (!isExpected(error)) throw error;
    writeError(`podwire-ovsdb-types: ${file}: ${error.message}\n`);
    return 1;
  }
}

/** A file that cannot be read, is not JSON, or is no schema. */
const isExpected = (error: unknown): error is Error =>
  error instanceof OvsdbError ||
  error instanceof SyntaxError ||
  (error instanceof Error && 'syscall' in error);
