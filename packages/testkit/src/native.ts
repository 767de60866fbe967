import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const packageRoot = path.resolve(import.meta.dirname, '../..');
const built = new Map<string, string>();

/**
 * The executable of a C source of this package (`native/NAME.c`), statically linked; compiled once for each version of
 * the source. Several test processes may do so at once, hence the rename.
 * @throws Error when there is no C compiler (Debian: gcc and libc6-dev)
 */
export function nativeProgram(
  name: string,
  sourceFile = path.join(packageRoot, 'native', `${name}.c`),
): string {
  const known = built.get(sourceFile);
  if (known !== undefined) return known;
  const digest = crypto.createHash('sha256').update(fs.readFileSync(sourceFile)).digest('hex').slice(0, 12);
  const directory = path.join(packageRoot, 'dist', 'native');
  const program = path.join(directory, `${name}-${digest}`);
  if (!fs.existsSync(program)) {
    fs.mkdirSync(directory, { recursive: true });
    const draft = `${program}.${process.pid}`;
    execFileSync('gcc', ['-O2', '-static', '-o', draft, sourceFile], { timeout: 60_000 });
    fs.renameSync(draft, program);
  }
  built.set(sourceFile, program);
  return program;
}
