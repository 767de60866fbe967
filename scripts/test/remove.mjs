/** A test that was killed may have left a mount below its directory: a removal would go through it. */
import fs from 'node:fs';

/** Without the packages, which need not be built. What is mounted is left, and named. */
export function removeUnlessMounted(directory) {
  if (!fs.existsSync(directory)) return;
  const mounted = mountsBelow(fs.realpathSync(directory));
  if (mounted.length > 0)
    return void console.error(`${directory} is kept; mounted there: ${mounted.join(' ')}`);
  fs.rmSync(directory, { recursive: true, force: true });
}

/** Field 5 of mountinfo has blanks as octal numbers (proc(5)). */
const mountsBelow = (directory) =>
  fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => place.startsWith(`${directory.replaceAll(' ', String.raw`\040`)}/`));
