import fs from 'node:fs/promises';
import path from 'node:path';

/**
 * A text that changes whenever a scan could find something else: files of the configuration directory, of the folders in it
 * (plugins of a network may stand in files of their own), and the plugins. A scan starts every plugin for its version; this
 * is some calls of stat.
 */
export async function takeSignature(directory: string, pluginPath: readonly string[]): Promise<string> {
  const parts = await Promise.all([
    listOf(directory, true),
    ...pluginPath.map((folder) => listOf(folder, false)),
  ]);
  return parts.join('\n');
}

async function listOf(folder: string, deep: boolean): Promise<string> {
  try {
    const entries = await fs.readdir(folder, { withFileTypes: true });
    const lines = await Promise.all(
      entries.map(async (entry) => {
        const file = path.join(folder, entry.name);
        if (entry.isDirectory()) return deep ? `${entry.name}/ ${await listOf(file, false)}` : '';
        return `${entry.name} ${await identityOf(file)}`;
      }),
    );
    return lines.toSorted().join('\n');
  } catch (error) {
    return `- ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** The change time too: `cp -p` and `touch -d` keep the modification time, nothing keeps this one. */
async function identityOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = await fs.stat(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs, mode].join(' ');
  } catch (error) {
    return `- ${(error as NodeJS.ErrnoException).code}`;
  }
}
