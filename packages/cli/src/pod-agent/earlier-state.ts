/** State of versions up to 0.1.0 in /run moves along when the pod agent is replaced; a reboot would have emptied it. */
import fs from 'node:fs';
import path from 'node:path';

/** Volumes of pods stay where they are, since containers have mounts of them. */
const names = ['checkpoints', 'seccomp', 'sources.json'];

/** Copies what is not there yet; each thing is whole or not there. */
export function bringEarlierState(from: string, to: string): void {
  for (const name of names) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    if (!fs.existsSync(source) || fs.existsSync(target)) continue;
    const draft = path.join(to, `.${name}.new`);
    fs.rmSync(draft, { recursive: true, force: true });
    fs.cpSync(source, draft, { recursive: true });
    fs.renameSync(draft, target);
  }
}

/** Reports if pods of then may still run. */
export function hasPods(root: string | undefined): root is string {
  return root !== undefined && fs.existsSync(path.join(root, 'pods'));
}
