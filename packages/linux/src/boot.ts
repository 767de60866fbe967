import fs from 'node:fs';

/** Different after each boot of the machine. Its kernel's parameters, links and tables live as long. */
export const readBootId = (): string => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
