import fs from 'node:fs';

/** Different after each boot of the machine. Its kernel's parameters, links and tables live as long. */
export const readBootId = (file = '/proc/sys/kernel/random/boot_id'): string =>
  fs.readFileSync(file, 'utf8').trim();
