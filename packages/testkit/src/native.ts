import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const packageRoot = path.resolve(import.meta.dirname, '../..');
const built = new Map<string, string>();

export interface NativeOptions {
  /** Where the source is; `native/NAME.c` of this package when absent. */
  readonly sourceFile?: string;
  /**
   * Take musl-gcc where there is one: a static program of musl starts several times faster than one of glibc, which asks
   * the processor for its features first.
   */
  readonly preferMusl?: boolean;
}

/**
 * The executable of a C source, statically linked; compiled once for each version of the source. Several test processes
 * may do so at once, hence the rename.
 * @throws Error when there is no C compiler (Debian: gcc and libc6-dev)
 */
export function nativeProgram(name: string, options: NativeOptions = {}): string {
  const sourceFile = options.sourceFile ?? path.join(packageRoot, 'native', `${name}.c`);
  const known = built.get(sourceFile);
  if (known !== undefined) return known;
  const [compiler, flags] = chooseCompiler(options.preferMusl ?? false);
  const digest = crypto.createHash('sha256').update(fs.readFileSync(sourceFile)).digest('hex').slice(0, 12);
  const directory = path.join(packageRoot, 'dist', 'native');
  const program = path.join(directory, `${name}-${digest}-${compiler}`);
  if (!fs.existsSync(program)) {
    fs.mkdirSync(directory, { recursive: true });
    const draft = `${program}.${process.pid}`;
    execFileSync(compiler, ['-O2', '-static', '-s', ...flags, '-o', draft, sourceFile], { timeout: 60_000 });
    fs.renameSync(draft, program);
  }
  built.set(sourceFile, program);
  return program;
}

function chooseCompiler(preferMusl: boolean): [compiler: string, flags: readonly string[]] {
  if (!preferMusl || !fs.existsSync('/usr/bin/musl-gcc')) return ['gcc', []];
  // musl has no headers of the kernel; those of the system come after its own.
  const multiarch = execFileSync('gcc', ['-print-multiarch'], { encoding: 'utf8', timeout: 10_000 }).trim();
  return ['musl-gcc', ['-idirafter', '/usr/include', '-idirafter', `/usr/include/${multiarch}`]];
}
